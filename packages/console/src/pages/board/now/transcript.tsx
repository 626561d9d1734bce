import { Drawer, Loader, ScrollArea, Stack, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import type { ChatMessage } from '@usher/sdk/api-types';
import type { ReactElement } from 'react';
import { Timestamp } from '../../../components/time/timestamp.tsx';
import { ProblemNote } from '../../../components/problem.tsx';
import { LinkedText } from '../../../components/linked-text.tsx';
import { keyOf, useRead } from '../../../data/use-api.ts';
import { useFeedItems } from '../../../live/use-live-feed.ts';
import { texts } from '../texts.ts';
import { useBoard, useTopic } from '../use-board.ts';
import { visitorLabel } from '../labels.ts';

const read = 'GET /engagements/{engagement_id}/chat_transcript';
const messageTypes = ['engagement.chat.message', 'engagement.chat.system_message', 'engagement.chat.message_status'];

/** The end marker is mounted again with each message, which scrolls it into view. */
function showEnd(end: HTMLDivElement | null): void {
  end?.scrollIntoView({ block: 'end' });
}

interface Props {
  readonly engagementId: string;
  readonly close: () => void;
}

/** The live transcript of an engagement. Its participants are not notified of the reader. */
export function Transcript({ engagementId, close }: Props): ReactElement {
  const { store, names } = useBoard();
  useTopic('names');
  useTopic('engagements');
  const request = { path: { engagement_id: engagementId } };
  const messages = useRead(read, request);
  const client = useQueryClient();
  useFeedItems(messageTypes, ({ data }) => {
    const { message } = data as { message?: { engagement_id?: string } };
    if (message?.engagement_id === engagementId) void client.invalidateQueries({ queryKey: keyOf(read, request) });
  });
  const engagement = useRead('GET /engagements/{engagement_id}', request).data?.data;
  const isActive = store.engagements().some(({ id }) => id === engagementId);
  const visitor =
    engagement === undefined ? '' : visitorLabel(names.nameOf(engagement.visitor_id), engagement.visitor_id);
  const nameOf = ({ sender }: ChatMessage): string => {
    if (sender.type === 'visitor') return visitor;
    return sender.type === 'operator' ? (store.operator(sender.id ?? '')?.name ?? texts.operator) : texts.system;
  };
  const count = messages.data?.data.length ?? 0;
  return (
    <Drawer
      opened
      onClose={close}
      position="right"
      size="md"
      title={<bdi>{visitor === '' ? texts.chat : texts.chatWith(visitor)}</bdi>}
      // Scroll lock injects a style that the content security policy blocks; the page behind may scroll.
      lockScroll={false}
      closeButtonProps={{ 'aria-label': texts.close }}
      scrollAreaComponent={ScrollArea.Autosize}
    >
      <ProblemNote error={messages.error} title={texts.couldNotLoadConversation} />
      {messages.isPending ? <Loader aria-label={texts.loading} /> : null}
      {messages.isSuccess && count === 0 ? <Text c="dimmed">{texts.noMessagesYet}</Text> : null}
      <Stack gap="sm" role="log" aria-label={texts.messages}>
        {messages.data?.data.map((message) => (
          <TranscriptMessage key={message.id} message={message} by={nameOf(message)} />
        ))}
      </Stack>
      {isActive ? null : (
        <Text c="dimmed" mt="md">
          {texts.conversationEnded}
        </Text>
      )}
      <div key={count} ref={showEnd} />
    </Drawer>
  );
}

function TranscriptMessage({ message, by }: { readonly message: ChatMessage; readonly by: string }): ReactElement {
  return (
    <div>
      <Text size="xs" c="dimmed">
        <bdi>{by}</bdi> · <Timestamp at={message.timestamp} format="seconds" />
      </Text>
      {message.content === '' ? null : (
        <div className="user-text">
          <LinkedText text={message.content} />
        </div>
      )}
      <AttachmentLines attachment={message.attachment} />
    </div>
  );
}

/** The attachments as text: the transcript is read-only. */
function AttachmentLines({ attachment }: Pick<ChatMessage, 'attachment'>): ReactElement | null {
  if (attachment === null) return null;
  const { files, options, selected_option } = attachment as {
    readonly files?: readonly { readonly name: string; readonly deleted: boolean }[];
    readonly options?: readonly { readonly text: string }[];
    readonly selected_option?: string;
  };
  const lines = [
    ...(files ?? []).map(({ name, deleted }) => (deleted ? texts.deletedFile(name) : texts.file(name))),
    ...(options ?? []).map(({ text }) => texts.choice(text)),
    ...(selected_option === undefined ? [] : [texts.chose(selected_option)]),
  ];
  return (
    <>
      {lines.map((text, n) => (
        // oxlint-disable-next-line react/no-array-index-key -- the lines never change.
        <Text key={n} size="sm" c="dimmed" className="user-text">
          {text}
        </Text>
      ))}
    </>
  );
}
