import type { SamplerSettings } from '../../../config-tracing.ts';
import type { Trace } from '../trace.ts';

/** 13 hexadecimal digits of a trace id: as many bits as a number has without rounding. */
const digits = 13;
const range = 16 ** digits;

/**
 * Whether a trace is sampled. Without a parent that decides, its id does, so that every process comes to the same decision. As the
 * specification has it, the last 7 bytes of the id are random (all but the last half byte of them are compared), and a trace
 * is sampled if they are large: a trace that is sampled with a small ratio is also sampled with a larger one.
 */
export function isSampled({ followsParent, ratio }: SamplerSettings, traceId: string, parent: Trace | null): boolean {
  if (followsParent && parent !== null) return parent.isSampled;
  return Number.parseInt(traceId.slice(-digits - 1, -1), 16) >= (1 - ratio) * range;
}
