import assert from 'node:assert/strict';
import { once } from 'node:events';
import { constants, PerformanceObserver } from 'node:perf_hooks';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createLog } from '../log.ts';
import { releaseMemoryWhenIdle } from './release-memory.ts';

const everyMs = 50;

function isOfAllGarbage(entry: PerformanceEntry): boolean {
  const detail = 'detail' in entry ? entry.detail : null;
  if (typeof detail !== 'object' || detail === null || !('flags' in detail)) return false;
  return detail.flags === constants.NODE_PERFORMANCE_GC_FLAGS_ALL_AVAILABLE_GARBAGE;
}

test('memory is released when the process is idle, and not before', { timeout: 30_000 }, async () => {
  const collected = new EventTarget();
  let collections = 0;
  const observer = new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      if (!isOfAllGarbage(entry)) continue;
      collections += 1;
      collected.dispatchEvent(new Event('collected'));
    }
  });
  observer.observe({ entryTypes: ['gc'] });

  releaseMemoryWhenIdle(createLog('silent'), everyMs);
  const until = performance.now() + 10 * everyMs;
  while (performance.now() < until) await nextTurn();
  assert.equal(collections, 0, 'the loop was busy');

  const keepAlive = setInterval(() => undefined, 1_000);
  await once(collected, 'collected');
  clearInterval(keepAlive);
  observer.disconnect();
});
