import type { FeedItem } from '@usher/client/feed';
import { useEffect, useEffectEvent, useRef, useState } from 'react';
import { setClockSkew } from '../components/since.tsx';
import { useMe } from '../data/use-me.ts';
import { skewOf } from '../live/server-clock.ts';
import { useLive } from '../live/use-live.ts';
import { useSession } from '../session/use-session.ts';
import { afterItem, afterRead, offerItems, type Offer } from './offer.ts';

/** The pending offers of the operator. */
export function useOffers(): readonly Offer[] {
  const { api } = useSession();
  const { operator } = useMe();
  const [offers, setOffers] = useState<readonly Offer[]>([]);
  const news = useRef<FeedItem[]>([]);

  const read = async (): Promise<void> => {
    news.current = [];
    const [{ engagement_requests: engagement }, { transfer_requests: transfer }] = await Promise.all([
      api.call('GET /engagement_requests', { query: { state: 'pending' } }),
      api.call('GET /transfer_requests', { query: { state: 'pending' } }),
    ]);
    setOffers(afterRead({ engagement, transfer }, operator.id, news.current));
  };
  // A failed read is repeated when the feed opens again: without the feed there are no offers.
  const readAnew = (): void => {
    read().catch(() => undefined);
    skewOf(api).then(setClockSkew, () => undefined);
  };
  const readFirst = useEffectEvent(readAnew);

  useLive(offerItems, (item) => {
    news.current.push(item);
    setOffers((before) => afterItem(before, item, operator.id));
  });
  useLive(['feed.open', 'feed.reset'], readAnew);
  useEffect(() => readFirst(), []);
  return offers;
}
