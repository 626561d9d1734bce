import { useSyncExternalStore } from 'react';
import { useMe } from '../../data/use-me.ts';
import type { LiveFeed } from '../../live/live-feed.ts';
import { useLiveFeed } from '../../live/use-live-feed.ts';
import { useSession } from '../../session/use-session.ts';
import type { Conversations } from './conversation/conversation.ts';
import { Desk } from './desk.ts';

/** One desk for each feed, created when the page is first opened: it continues behind other pages. */
const desks = new WeakMap<LiveFeed, Desk>();

export function useDesk(): Desk {
  const live = useLiveFeed();
  const session = useSession();
  const me = useMe();
  const existing = desks.get(live);
  if (existing !== undefined) return existing;
  const desk = new Desk({ api: session.api, live, operatorId: me.operator.id });
  live.onStop(session.beforeSignOut(async () => desk.calls.hangUpAll()));
  desks.set(live, desk);
  return desk;
}

export function useConversations(): Conversations {
  const desk = useDesk();
  return useSyncExternalStore(desk.subscribe, desk.state);
}
