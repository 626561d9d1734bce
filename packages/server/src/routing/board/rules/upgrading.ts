import type { Party } from '../../../identity/party.ts';
import { isCall, type Medium } from '@usher/contract/media';
import { Refusal } from '../../../platform/errors.ts';
import type { CallId, EngagementId, SubEngagementId } from '../../../platform/ids.ts';
import { notOnBoard, isParty } from './answering.ts';
import { siteOf, type Board } from '../board.ts';
import { beginCall, finishCall } from './calls.ts';
import { appendEvent } from './engagements.ts';
import { higherMedium } from '../structures/media.ts';
import { enqueueInLine, removeFromLine } from '../structures/lines.ts';
import { occupy } from './requests.ts';
import type { Engagement, Request } from '../structures/state.ts';

/** A requested media upgrade as it is stored. The board does not keep media upgrades. */
export interface MediaUpgrade {
  readonly id: string;
  readonly subEngagementId: SubEngagementId;
  readonly audio: 'two_way' | null;
  readonly video: 'one_way' | 'two_way' | null;
  readonly target: Party['kind'];
  readonly pending: boolean;
  /** Whether the operator has unacknowledged chat messages. */
  readonly undelivered: boolean;
}

export interface AcceptUpgrade {
  readonly engagementId: EngagementId;
  readonly upgradeId: string;
  readonly by: Party;
  /** `undefined`: there is no such request. */
  readonly upgrade?: MediaUpgrade | undefined;
}

/** Changes the medium of the engagement. Its operator is then offered nothing else (D4.4). */
export function acceptUpgrade(
  board: Board,
  { engagementId, upgrade, by }: AcceptUpgrade,
): Engagement | typeof notOnBoard {
  const engagement = board.engagements.get(engagementId);
  if (engagement === undefined || !isParty(engagement, by) || upgrade === undefined) return notOnBoard;
  if (!isPending(board, upgrade, engagementId) || upgrade.subEngagementId !== engagement.subEngagementId)
    return notOnBoard;
  if (upgrade.target !== by.kind) throw new Refusal('forbidden', 'Only the invited side may accept the media upgrade.');
  const medium: Medium = upgrade.video === null ? 'audio' : 'video';
  requireFreeForCall(board, engagement);
  goOnBy(board, engagement, medium);
  engagement.highestMedium = higherMedium(engagement.highestMedium, medium);
  beginCall(board, engagement);
  board.changes.upgrades.push(upgrade.id);
  announce(board, engagement, `The ${by.kind} accepted ${describeUpgrade(upgrade)}.`, upgrade.undelivered);
  return engagement;
}

/** The stored row does not show the changes of this turn yet: an upgrade may have been accepted, or canceled by hanging up. */
function isPending({ changes }: Board, { id, pending }: MediaUpgrade, engagementId: EngagementId): boolean {
  const hasHungUp = [...changes.calls].some((call) => call.engagementId === engagementId && call.endedBy !== null);
  return pending && !changes.upgrades.includes(id) && !hasHungUp;
}

function goOnBy(board: Board, engagement: Engagement, medium: Medium): void {
  occupy(board, engagement.operator, engagement.medium, -1);
  engagement.medium = medium;
  occupy(board, engagement.operator, medium, 1);
  board.changes.engagements.add(engagement);
}

export interface EndCall {
  readonly engagementId: EngagementId;
  readonly callId: CallId;
  readonly by: Party;
}

/**
 * One side hangs up, and the engagement continues as text: its operator may be offered other texts (D4.4). A pending transfer of
 * the call continues as one of a chat (D5.4). The caller names the call, so that hanging up twice, or late, does not end the next
 * call.
 */
export function endCall(board: Board, { engagementId, callId, by }: EndCall): Engagement | typeof notOnBoard {
  const engagement = board.engagements.get(engagementId);
  if (engagement === undefined || !isParty(engagement, by) || engagement.call?.id !== callId) return notOnBoard;
  finishCall(board, engagement, by.kind);
  goOnBy(board, engagement, 'text');
  transferAsChat(board, engagement);
  return engagement;
}

/** D5.4: whoever accepts the transfer finds a chat. Without this, they would call a visitor who has just hung up. */
function transferAsChat(board: Board, { transfer }: Engagement): void {
  if (transfer === null || !isCall(transfer.medium)) return;
  if (!('seq' in transfer)) return offerAsChat(board, transfer);
  const isWaiting = transfer.state === 'waiting';
  // The lines of a pool are by medium.
  if (isWaiting) removeFromLine(board, transfer);
  transfer.medium = 'text';
  if (isWaiting) enqueueInLine(board, transfer);
  board.changes.tickets.add(transfer);
  if (transfer.request !== null) offerAsChat(board, transfer.request);
}

function offerAsChat(board: Board, request: Request): void {
  occupy(board, request.operator, request.medium, -1);
  request.medium = 'text';
  occupy(board, request.operator, 'text', 1);
  board.changes.requests.add(request);
}

export interface CheckCall {
  readonly engagementId: EngagementId;
  readonly by: Party;
}

/** Refuses if the engagement cannot become a call now (D4.4), so that nobody is invited to a call that could not start. */
export function checkCall(board: Board, { engagementId, by }: CheckCall): Engagement | typeof notOnBoard {
  const engagement = board.engagements.get(engagementId);
  if (engagement === undefined || !isParty(engagement, by)) return notOnBoard;
  requireFreeForCall(board, engagement);
  return engagement;
}

export function describeUpgrade({ audio, video }: Pick<MediaUpgrade, 'audio' | 'video'>): string {
  const videoNames = { one_way: 'one-way video', two_way: 'two-way video' };
  return [audio === null ? [] : ['audio'], video === null ? [] : [videoNames[video]]].flat().join(' and ');
}

/** D4.4: the operator is in no other call. Without `calls_beside_chats` they also have no other engagement or offer. */
function requireFreeForCall(board: Board, { operator, medium, siteId }: Engagement): void {
  if (medium !== 'text') return;
  const { texts, exclusives, settings } = operator;
  if (exclusives > 0)
    throw new Refusal('operator_unavailable', `The operator ${settings.id} is in another call. End that call first.`);
  if (texts === 1 || siteOf(board, siteId).callsBesideChats) return;
  throw new Refusal(
    'operator_unavailable',
    `The operator ${settings.id} has other engagements or offers. End these first: the site has \`calls_beside_chats\` off.`,
  );
}

/** Sends a system message to the operator. */
function announce(board: Board, engagement: Engagement, content: string, undelivered: boolean): void {
  const id = board.newId();
  const { id: engagementId, subEngagementId } = engagement;
  board.changes.messages.push({
    id,
    engagementId,
    subEngagementId,
    sender: { type: 'system', id: null },
    content,
    attachment: null,
    at: board.now,
  });
  appendEvent(board, engagement, 'engagement.chat.system_message', {
    message: {
      timestamp: new Date(board.now).toISOString(),
      id,
      engagement_id: engagementId,
      sub_engagement_id: subEngagementId,
      content,
      status: 'sent',
      sender: { type: 'system' },
      target: 'operator',
      type: 'system_message',
      attachment: null,
      metadata: null,
    },
    undelivered_messages: undelivered,
  });
}
