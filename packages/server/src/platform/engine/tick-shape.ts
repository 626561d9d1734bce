import { executionAsyncResource } from 'node:async_hooks';

/** Never read: it only has to live. */
const kept: object[] = [];

/**
 * Keeps `process.nextTick` fast, which every request, query and delivery calls several times. Node makes an object literal with computed
 * keys for each call. V8 compiles that literal for the one shape it has seen, but a full garbage collection removes a shape that no object
 * has. V8 takes the next one for a second shape, gives up on the literal for good, and a call costs five times as much. So one of these
 * objects is kept. Call this at the start, before such a collection.
 */
export function keepTickShape(): void {
  process.nextTick(() => kept.push(executionAsyncResource()));
}
