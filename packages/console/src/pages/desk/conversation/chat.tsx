import type { ReactElement } from 'react';
import { useState } from 'react';
import { useMe } from '../../../data/use-me.ts';
import { useVisitorName } from '../../../data/use-visitor.ts';
import { CallPanel } from '../calls/call-panel.tsx';
import { ChatHead } from './chat-head.tsx';
import { Composer } from '../composer/composer.tsx';
import type { Conversation } from './conversation.ts';
import { isOpen } from './selectors.ts';
import { Messages } from './messages.tsx';
import { TransferBar } from '../transfers/transfer-bar.tsx';
import { UpgradeBar } from '../calls/upgrade-bar.tsx';
import { useDesk } from '../use-desk.ts';

/** One conversation: visitor, messages and composer. */
export function Chat({ chat }: { readonly chat: Conversation }): ReactElement {
  const desk = useDesk();
  const me = useMe();
  const name = useVisitorName(chat.engagement.site_id, chat.engagement.visitor_id);
  const [draft, setDraft] = useState(() => desk.storage.read(chat.id).draft);
  const site = me.sites.find(({ id }) => id === chat.engagement.site_id);
  const write = (text: string): void => {
    setDraft(text);
    desk.storage.update(chat.id, { draft: text });
  };
  return (
    <>
      <ChatHead chat={chat} name={name} />
      <TransferBar chat={chat} />
      <UpgradeBar chat={chat} />
      <CallPanel chat={chat} />
      <Messages chat={chat} name={name} use={(text) => write(draft === '' ? text : `${draft}\n${text}`)} />
      {isOpen(chat) ? <Composer chat={chat} site={site} draft={draft} write={write} /> : null}
    </>
  );
}
