import type { EngagementRequest, TransferRequest } from '@usher/sdk/api-types';
import type { FeedItem } from '@usher/client/feed-item';
import type { Media } from '@usher/call/media';
import { isCall } from '@usher/contract/media';

/** An offer to an operator: by a queue, a visitor, or a colleague who transfers. */
export interface Offer {
  readonly kind: 'engagement' | 'transfer';
  readonly id: string;
  readonly siteId: string;
  readonly visitorId: string;
  readonly media: EngagementRequest['media'];
  readonly queueId: string | null;
  readonly message: string | null;
  /** In server time. */
  readonly createdAt: number;
  readonly until: number;
}

export const offerItemTypes = ['engagement_request.state', 'transfer_request.state'] as const;

/** Requests of this operator to visitors are not offers. */
export function offerOf(
  kind: Offer['kind'],
  request: EngagementRequest | TransferRequest,
  operatorId: string,
): Offer | null {
  const isOurs = 'origin' in request && request.origin === 'operator';
  if (request.state !== 'pending' || request.operator_id !== operatorId || isOurs) return null;
  const createdAt = Date.parse(request.created_at);
  return {
    kind,
    id: request.id,
    siteId: request.site_id,
    visitorId: request.visitor_id,
    media: request.media,
    queueId: request.queue_id,
    message: 'message' in request ? request.message : null,
    createdAt,
    until: createdAt + request.timeout * 1_000,
  };
}

/** Oldest first: the shortcuts answer the first. */
export function offersAfterItem(
  offers: readonly Offer[],
  { type, data }: FeedItem,
  operatorId: string,
): readonly Offer[] {
  const request = data as EngagementRequest | TransferRequest;
  const offer = offerOf(type === 'transfer_request.state' ? 'transfer' : 'engagement', request, operatorId);
  const others = offers.filter(({ id }) => id !== request.id);
  if (offer !== null) return sortOldestFirst([...others, offer]);
  return others.length === offers.length ? offers : others;
}

/** `itemsSinceRead`: feed items since the read began, which the read may not include. */
export function offersAfterRead(
  read: { readonly engagement: readonly EngagementRequest[]; readonly transfer: readonly TransferRequest[] },
  operatorId: string,
  itemsSinceRead: Iterable<FeedItem>,
): readonly Offer[] {
  const found = [
    ...read.engagement.map((request) => offerOf('engagement', request, operatorId)),
    ...read.transfer.map((request) => offerOf('transfer', request, operatorId)),
  ];
  const offers = sortOldestFirst(found.filter((offer) => offer !== null));
  return [...itemsSinceRead].reduce((before, item) => offersAfterItem(before, item, operatorId), offers);
}

function sortOldestFirst(offers: readonly Offer[]): readonly Offer[] {
  return offers.toSorted((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1));
}

/** The media of the call that the offer becomes; `null`: it becomes a chat. */
export function callMediaOf({ media }: Offer): Media | null {
  return isCall(media) ? { audio: 'two_way', video: media === 'video' ? 'two_way' : null } : null;
}

/** Seconds left to answer in server time; never more than the timeout. */
export function secondsLeft({ createdAt, until }: Offer, now: number): number {
  const left = Math.ceil((until - now) / 1_000);
  return Math.max(0, Math.min(left, Math.round((until - createdAt) / 1_000)));
}
