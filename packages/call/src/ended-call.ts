import { callTexts, type CallTexts } from './texts.ts';

/** A call as the engagement records it. */
interface CallRecord {
  readonly connected_at: string | null;
  readonly ended_at: string | null;
  readonly ended_by: 'visitor' | 'operator' | null;
}

/**
 * The line that an ended call leaves in the conversation; `null`: no line. A call that never connected counts as missed, unless it
 * ended together with the conversation or by a transfer: then `ended_by` is `null`.
 */
export function describeEndedCall(call: CallRecord, texts: CallTexts = callTexts): string | null {
  const { connected_at: from, ended_at: to, ended_by: endedBy } = call;
  if (to === null) return null;
  if (from === null) return endedBy === null ? null : texts.missedCall;
  return texts.callEnded(formatDuration(Date.parse(to) - Date.parse(from)));
}

function formatDuration(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1_000));
  const [minutes, rest] = [Math.floor(seconds / 60), String(seconds % 60).padStart(2, '0')];
  if (minutes < 60) return `${minutes}:${rest}`;
  return `${Math.floor(minutes / 60)}:${String(minutes % 60).padStart(2, '0')}:${rest}`;
}
