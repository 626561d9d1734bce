import { useEffect, useEffectEvent, useState } from 'react';
import { texts } from './texts.ts';
import { play, useSound } from '../../live/sound.ts';
import type { Conversations, Message } from './conversation/conversation.ts';

/** Announces the latest message of a visitor to screen readers, and plays a sound unless the conversation is in view. */
export function useNews({ isRead, byId }: Conversations, openId: string | null): string {
  const [isOn] = useSound();
  const isComplete = isRead && [...byId.values()].every((chat) => chat.isRead);
  const last = lastOf(byId);
  /** The latest message when everything had been read; `undefined` until then. */
  const [old, setOld] = useState<string | null | undefined>(undefined);
  if (old === undefined && isComplete) setOld(last?.id ?? null);
  const news = last !== null && old !== undefined && last.id !== old ? last : null;
  const ring = useEffectEvent(() => {
    if (isOn && (news?.engagement_id !== openId || document.visibilityState === 'hidden')) play('message');
  });
  const newsId = news?.id ?? null;
  useEffect(() => {
    if (newsId !== null) ring();
  }, [newsId]);
  return news === null ? '' : news.content === '' ? texts.newFile : texts.newMessage(news.content);
}

function lastOf(byId: Conversations['byId']): Message | null {
  const all = [...byId.values()].flatMap(
    ({ messages }) => messages.findLast(({ sender }) => sender.type === 'visitor') ?? [],
  );
  return all.reduce<Message | null>(
    (last, each) => (last === null || each.timestamp > last.timestamp ? each : last),
    null,
  );
}
