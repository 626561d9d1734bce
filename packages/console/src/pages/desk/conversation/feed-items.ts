import type { Engagement, File, MediaUpgradeRequest, TransferRequest, TransferTicket } from '@usher/sdk/api-types';
import type { FeedItem } from '@usher/client/feed-item';
import type { Change, Message } from './conversation.ts';

/** The feed types the desk subscribes to. */
export const itemTypes = [
  'engagement.state',
  'engagement.transfer',
  'engagement.chat.message',
  'engagement.chat.system_message',
  'engagement.chat.message_status',
  'engagement.chat.typing_indicator.visitor',
  'engagement.files.security_scan_result',
  'engagement.media_upgrade_request',
  'media_upgrade_request.state',
  'file.state',
  'transfer_request.state',
  'transfer_ticket.state',
] as const;

interface ItemContext {
  readonly me: string;
  readonly now: number;
}

/** Converts a feed item to a change of the desk. The server is trusted for its shape. */
export function changeOf({ type, data }: FeedItem, { me, now }: ItemContext): Change | null {
  switch (type as (typeof itemTypes)[number]) {
    case 'engagement.state':
      return { type: 'engagement', engagement: data as Engagement, me };
    case 'engagement.transfer':
      return transferredChange(data as EngagementTransferred, me);
    case 'engagement.chat.message':
    case 'engagement.chat.system_message':
      return { type: 'message', message: (data as { message: Message }).message };
    case 'engagement.chat.message_status': {
      const { id, engagement_id } = (data as { message: Message }).message;
      return { type: 'delivered', id: engagement_id, messageId: id };
    }
    case 'engagement.chat.typing_indicator.visitor': {
      const { engagement_id, typing, clock } = (data as Typing).typing_indicator;
      return { type: 'typing', id: engagement_id, isOn: typing, clock, at: now };
    }
    case 'engagement.files.security_scan_result': {
      const { dispatched_at: at, security_scan_result: scan } = data as Scan;
      return { type: 'scanned', fileId: scan.file_id, result: scan.result, at };
    }
    case 'engagement.media_upgrade_request':
      return { type: 'upgrade', upgrade: upgradeOf(data as UpgradeRequested) };
    case 'media_upgrade_request.state':
      return { type: 'upgrade', upgrade: data as MediaUpgradeRequest };
    case 'file.state':
      return { type: 'file', file: data as File };
    case 'transfer_request.state':
      return transferOf(data as TransferRequest, me);
    case 'transfer_ticket.state':
      return transferTicketOf(data as TransferTicket);
    default:
      return null;
  }
}

interface EngagementTransferred {
  readonly dispatched_at: string;
  readonly engagement: {
    readonly id: string;
    readonly current_sub_engagement: { readonly operator_id: string };
  };
}

interface Typing {
  readonly typing_indicator: { readonly engagement_id: string; readonly typing: boolean; readonly clock: number };
}

interface Scan {
  readonly dispatched_at: string;
  readonly security_scan_result: { readonly file_id: string; readonly result: 'clean' | 'infected' };
}

interface UpgradeRequested {
  readonly dispatched_at: string;
  readonly media_upgrade_request: Pick<
    MediaUpgradeRequest,
    'id' | 'audio' | 'video' | 'target' | 'engagement_id' | 'sub_engagement_id'
  >;
}

function transferredChange({ dispatched_at: at, engagement }: EngagementTransferred, me: string): Change | null {
  const { operator_id: to } = engagement.current_sub_engagement;
  return to === me ? null : { type: 'transferred', id: engagement.id, at };
}

function upgradeOf({ dispatched_at: at, media_upgrade_request: request }: UpgradeRequested): MediaUpgradeRequest {
  const unreported = { audio_type: null, phone_number: null, phone_extension: null };
  return { ...request, ...unreported, state: 'pending', created_at: at, updated_at: at };
}

/** Transfer requests by this operator. Those of a ticket are reported by the ticket; those to this operator are offers. */
function transferOf(request: TransferRequest, me: string): Change | null {
  const { id, engagement_id, transfer_ticket_id: ticket, operator_id: to, state } = request;
  if (engagement_id === null || ticket !== null || to === me) return null;
  return { type: 'transfer', id: engagement_id, transfer: state === 'pending' ? { kind: 'request', id, to } : null };
}

function transferTicketOf({ id, engagement_id, queue_ids, state }: TransferTicket): Change | null {
  if (engagement_id === null) return null;
  const isPending = state === 'waiting' || state === 'offered';
  return {
    type: 'transfer',
    id: engagement_id,
    transfer: isPending ? { kind: 'ticket', id, to: queue_ids[0] ?? '' } : null,
  };
}
