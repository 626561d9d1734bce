import { useMe } from '../../../data/use-me.ts';
import type { Conversation } from '../conversation/conversation.ts';
import { callObstacle, type CallObstacle } from '../conversation/selectors.ts';
import { useConversations } from '../use-desk.ts';

/** Why the conversation cannot become a call now; `null`: it can. */
export function useCallObstacle(chat: Conversation): CallObstacle | null {
  const conversations = useConversations();
  const { sites } = useMe();
  return callObstacle(
    chat,
    conversations,
    sites.find(({ id }) => id === chat.engagement.site_id),
  );
}
