import { useSyncExternalStore } from 'react';
import { useMe } from '../../data/use-me.ts';
import type { Live } from '../../live/live.ts';
import { useLiveFeed } from '../../live/use-live.ts';
import { useSession } from '../../session/use-session.ts';
import type { Conversations } from './conversation/conversation.ts';
import { Desk } from './desk.ts';

/** One desk for each feed, created when the page is first opened: it continues behind other pages. */
const desks = new WeakMap<Live, Desk>();

export function useDesk(): Desk {
  const live = useLiveFeed();
  const { api } = useSession();
  const me = useMe();
  const known = desks.get(live);
  if (known !== undefined) return known;
  const desk = new Desk({ api, live, operatorId: me.operator.id });
  desks.set(live, desk);
  return desk;
}

export function useConversations(): Conversations {
  const desk = useDesk();
  return useSyncExternalStore(desk.subscribe, desk.state);
}
