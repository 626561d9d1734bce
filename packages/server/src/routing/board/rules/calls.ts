import { isCall } from '@usher/contract/media';
import type { CallId } from '../../../platform/ids.ts';
import type { Board } from '../board.ts';
import type { Call, Engagement } from '../structures/state.ts';

/** Begins a call if the medium of the engagement is one. A change from audio to video continues the same call. */
export function beginCall(board: Board, engagement: Engagement): void {
  const { id: engagementId, subEngagementId, medium } = engagement;
  if (engagement.call !== null || !isCall(medium)) return;
  engagement.call = {
    id: board.newId() as CallId,
    engagementId,
    subEngagementId,
    startedAt: board.now,
    endedAt: null,
    endedBy: null,
    createdIn: board.changes,
  };
  board.changes.calls.add(engagement.call);
}

/** `by` is the side that hung up; `null` if the call ends with the engagement or the sub-engagement. */
export function finishCall(board: Board, engagement: Engagement, by: Call['endedBy']): void {
  const { call } = engagement;
  if (call === null) return;
  call.endedAt = board.now;
  call.endedBy = by;
  engagement.call = null;
  board.changes.calls.add(call);
}
