import type { FeedItem } from '@usher/client/feed';
import { useEffect, useEffectEvent, useRef, useState } from 'react';
import { setClockSkew } from '../components/time/elapsed-time.tsx';
import { useMe } from '../data/use-me.ts';
import { measureClockSkew } from '../live/server-clock.ts';
import { useFeedItems } from '../live/use-live-feed.ts';
import { useSession } from '../session/use-session.ts';
import { offersAfterItem, offersAfterRead, offerItemTypes, type Offer } from './offer.ts';

/** The pending offers of the operator. */
export function useOffers(): readonly Offer[] {
  const { api } = useSession();
  const { operator } = useMe();
  const [offers, setOffers] = useState<readonly Offer[]>([]);
  const itemsSinceRead = useRef<FeedItem[]>([]);

  const read = async (): Promise<void> => {
    itemsSinceRead.current = [];
    const [{ engagement_requests: engagement }, { transfer_requests: transfer }] = await Promise.all([
      api.call('GET /engagement_requests', { query: { state: 'pending' } }),
      api.call('GET /transfer_requests', { query: { state: 'pending' } }),
    ]);
    setOffers(offersAfterRead({ engagement, transfer }, operator.id, itemsSinceRead.current));
  };
  // A failed read is repeated when the feed opens again: without the feed there are no offers.
  const refresh = (): void => {
    read().catch(() => undefined);
    measureClockSkew(api).then(setClockSkew, () => undefined);
  };
  const readOnMount = useEffectEvent(refresh);

  useFeedItems(offerItemTypes, (item) => {
    itemsSinceRead.current.push(item);
    setOffers((before) => offersAfterItem(before, item, operator.id));
  });
  useFeedItems(['feed.open', 'feed.reset'], refresh);
  useEffect(() => readOnMount(), []);
  return offers;
}
