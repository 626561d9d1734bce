/** A call as the engagement has it. */
interface KeptCall {
  readonly connected_at: string | null;
  readonly ended_at: string | null;
  readonly ended_by: 'visitor' | 'operator' | null;
}

/**
 * What stays of a call in the conversation; `null`: nothing. A call in which the sides were never connected was missed, unless it
 * only ended because the conversation did, or because another operator took over.
 */
export function endedCallInWords({ connected_at: from, ended_at: to, ended_by: by }: KeptCall): string | null {
  if (to === null) return null;
  if (from === null) return by === null ? null : 'Missed call';
  return `Call ended · ${lengthInWords(Date.parse(to) - Date.parse(from))}`;
}

function lengthInWords(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1_000));
  const [minutes, rest] = [Math.floor(seconds / 60), String(seconds % 60).padStart(2, '0')];
  if (minutes < 60) return `${minutes}:${rest}`;
  return `${Math.floor(minutes / 60)}:${String(minutes % 60).padStart(2, '0')}:${rest}`;
}
