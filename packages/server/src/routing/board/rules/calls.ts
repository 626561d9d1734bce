import { isCall } from '@usher/contract/media';
import type { CallId } from '../../../platform/ids.ts';
import type { Board } from '../board.ts';
import type { Call, Engagement } from '../structures/state.ts';

/** The engagement has got its medium. A call that goes on from audio to video stays the same call. */
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
    changedIn: null,
    createdIn: board.changes,
  };
  board.changes.calls.add(engagement.call);
}

/** `by`: who hung up; `null` if the call ends with something else. */
export function finishCall(board: Board, engagement: Engagement, by: Call['endedBy']): void {
  const { call } = engagement;
  if (call === null) return;
  call.endedAt = board.now;
  call.endedBy = by;
  engagement.call = null;
  board.changes.calls.add(call);
}
