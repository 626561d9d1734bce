import { ActionIcon, Center, Stack, Text, Tooltip, VisuallyHidden } from '@mantine/core';
import { KeyboardIcon, SpeakerLoudIcon, SpeakerOffIcon } from '@radix-ui/react-icons';
import { useState, type ReactElement } from 'react';
import { useLocation, useRoute } from 'wouter';
import { PageTitle } from '../../components/page-title.tsx';
import { ProblemNote } from '../../components/problem.tsx';
import { useMe } from '../../data/use-me.ts';
import { useSound } from '../../live/sound.ts';
import { usePendingCount } from '../../shell/tab-title.ts';
import { ChatList } from './chat-list.tsx';
import { Chat } from './conversation/chat.tsx';
import classes from './desk.module.css';
import { FileTarget } from './composer/file-target.tsx';
import { PresenceMenu } from './presence-menu.tsx';
import { sortedConversations, unreadOf } from './conversation/selectors.ts';
import { Shortcuts, useDeskKeys } from './shortcuts.tsx';
import { texts } from './texts.ts';
import { useAnnouncement } from './use-announcement.ts';
import { useConversations, useDesk } from './use-desk.ts';
import { VisitorPanel } from './visitor/visitor-panel.tsx';

export function DeskPage(): ReactElement {
  const desk = useDesk();
  const state = useConversations();
  const [, params] = useRoute('/desk/:id');
  const [, go] = useLocation();
  const [keysShown, showKeys] = useState(false);
  const chats = sortedConversations(state);
  const openId = params?.id ?? null;
  const open = openId === null ? undefined : state.byId.get(openId);
  const announcement = useAnnouncement(state, openId);
  usePendingCount(
    'messages',
    chats.reduce((sum, chat) => sum + unreadOf(chat), 0),
  );
  useDeskKeys({ chats, openId, go: (id) => go(`/desk/${id}`), showKeys: () => showKeys(true) });
  return (
    <div className={classes['desk']}>
      <div data-phone={openId === null}>
        <PageTitle title={texts.desk}>
          <PresenceMenu />
          <SoundSwitch />
          <Tooltip label={texts.keyboardShortcutsHint}>
            <ActionIcon variant="default" size={30} aria-label={texts.keyboardShortcuts} onClick={() => showKeys(true)}>
              <KeyboardIcon aria-hidden />
            </ActionIcon>
          </Tooltip>
        </PageTitle>
      </div>
      <VisuallyHidden role="log" aria-live="polite" aria-label={texts.announcements}>
        {announcement}
      </VisuallyHidden>
      <ProblemNote error={desk.problem()} title={texts.couldNotLoadEverything} />
      <div className={classes['columns']}>
        <section className={classes['column']} aria-label={texts.chats} data-phone={openId === null}>
          {chats.length === 0 ? <NoChats isRead={state.isRead} /> : <ChatList chats={chats} openId={openId} />}
        </section>
        <section className={classes['column']} aria-label={texts.conversation} data-phone={openId !== null}>
          {open === undefined ? (
            <Center h="100%" p="md">
              <Text c="dimmed" ta="center">
                {openId === null || !state.isRead ? texts.selectConversation : texts.notYourConversation}
              </Text>
            </Center>
          ) : (
            <FileTarget key={open.id} chat={open}>
              <Chat chat={open} />
            </FileTarget>
          )}
        </section>
        <section className={classes['column']} aria-label={texts.visitor} data-wide>
          {open === undefined ? null : (
            <div className={classes['details']}>
              <VisitorPanel key={open.engagement.visitor_id} chat={open} />
            </div>
          )}
        </section>
      </div>
      <Shortcuts isShown={keysShown} close={() => showKeys(false)} />
    </div>
  );
}

/** The empty state: what to do next. */
function NoChats({ isRead }: { readonly isRead: boolean }): ReactElement {
  const { operator } = useMe();
  return (
    <Stack p="md" gap={4}>
      <Text fw={600}>{isRead ? texts.noConversations : texts.loading}</Text>
      {isRead ? (
        <Text size="sm" c="dimmed">
          {operator.available
            ? texts.waitingForVisitors
            : operator.presence_reason === 'missed_call'
              ? texts.goAvailableAfterMissedOffer
              : texts.goAvailable}
        </Text>
      ) : null}
    </Stack>
  );
}

function SoundSwitch(): ReactElement {
  const [isOn, set] = useSound();
  const label = isOn ? texts.muteNotifications : texts.unmuteNotifications;
  return (
    <Tooltip label={label}>
      <ActionIcon variant="default" size={30} aria-label={texts.sound} aria-pressed={isOn} onClick={() => set(!isOn)}>
        {isOn ? <SpeakerLoudIcon aria-hidden /> : <SpeakerOffIcon aria-hidden />}
      </ActionIcon>
    </Tooltip>
  );
}
