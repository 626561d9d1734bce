import { useEffect, useEffectEvent, useState } from 'react';
import { texts } from './texts.ts';
import { play, useSound } from '../../live/sound.ts';
import type { Conversations, Message } from './conversation/conversation.ts';

/** Announces the latest message of a visitor to screen readers, and plays a sound unless the conversation is in view. */
export function useAnnouncement({ isRead, byId }: Conversations, openId: string | null): string {
  const [isOn] = useSound();
  const isComplete = isRead && [...byId.values()].every((chat) => chat.isRead);
  const last = latestVisitorMessage(byId);
  /** The latest message when everything had been read; `undefined` until then. */
  const [lastReadId, setLastReadId] = useState<string | null | undefined>(undefined);
  if (lastReadId === undefined && isComplete) setLastReadId(last?.id ?? null);
  const announced = last !== null && lastReadId !== undefined && last.id !== lastReadId ? last : null;
  const playSound = useEffectEvent(() => {
    if (isOn && (announced?.engagement_id !== openId || document.visibilityState === 'hidden')) play('message');
  });
  const announcedId = announced?.id ?? null;
  useEffect(() => {
    if (announcedId !== null) playSound();
  }, [announcedId]);
  return announced === null ? '' : announced.content === '' ? texts.newFile : texts.newMessage(announced.content);
}

function latestVisitorMessage(byId: Conversations['byId']): Message | null {
  const all = [...byId.values()].flatMap(
    ({ messages }) => messages.findLast(({ sender }) => sender.type === 'visitor') ?? [],
  );
  return all.reduce<Message | null>(
    (last, each) => (last === null || each.timestamp > last.timestamp ? each : last),
    null,
  );
}
