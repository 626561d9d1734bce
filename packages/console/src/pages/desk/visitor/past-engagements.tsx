import { Loader, Modal, Stack, Text, UnstyledButton } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import type { Engagement } from '@usher/sdk/api-types';
import { useState, type ReactElement } from 'react';
import { mediumName } from '../../../components/medium.ts';
import { ProblemNote } from '../../../components/problem.tsx';
import { keyOf, useRead } from '../../../data/use-api.ts';
import { useMe } from '../../../data/use-me.ts';
import { useVisitorName } from '../../../data/use-visitor.ts';
import { useFeedItems } from '../../../live/use-live-feed.ts';
import type { Conversation } from '../conversation/conversation.ts';
import { MessageView } from '../conversation/message.tsx';
import { ThreadNote } from '../conversation/thread-note.tsx';
import { threadOf } from '../conversation/thread.ts';
import { texts } from '../texts.ts';

/** The number of engagements listed, newest first. */
const maxShown = 20;

const read = 'GET /engagements';

/** The previous engagements of the visitor, each with its messages, calls and transfers. */
export function PastEngagements({ chat }: { readonly chat: Conversation }): ReactElement {
  const { sites } = useMe();
  const [open, setOpen] = useState<Engagement | null>(null);
  const query = { site_ids: sites.map(({ id }) => id), visitor_ids: [chat.engagement.visitor_id], per_page: maxShown };
  // The feed reports this operator's conversations only; those of colleagues are read when a conversation is opened.
  const { data, error, isPending } = useRead(read, { query }, { refetchOnMount: 'always' });
  const client = useQueryClient();
  useFeedItems(['engagement.state'], ({ data: engagement }) => {
    if ((engagement as Engagement).visitor_id === chat.engagement.visitor_id)
      void client.invalidateQueries({ queryKey: keyOf(read, { query }) });
  });
  const past = (data?.data.engagements ?? []).filter(
    ({ id, started_at: at }) => id !== chat.id && at <= chat.engagement.started_at,
  );
  if (isPending) return <Loader size="sm" aria-label={texts.loading} />;
  if (error !== null) return <ProblemNote error={error} />;
  if (past.length === 0)
    return (
      <Text size="sm" c="dimmed">
        {texts.firstConversation}
      </Text>
    );
  return (
    <Stack gap={2}>
      {past.map((engagement) => (
        <UnstyledButton key={engagement.id} onClick={() => setOpen(engagement)} py={4} fz="sm">
          {new Date(engagement.started_at).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'short' })}
          <Text span size="xs" c="dimmed" ml={6}>
            {mediumName(engagement.media)}
          </Text>
        </UnstyledButton>
      ))}
      {open === null ? null : <PastTranscript engagement={open} close={() => setOpen(null)} />}
    </Stack>
  );
}

function PastTranscript({
  engagement,
  close,
}: {
  readonly engagement: Engagement;
  readonly close: () => void;
}): ReactElement {
  const path = { engagement_id: engagement.id };
  const transcript = useRead('GET /engagements/{engagement_id}/chat_transcript', { path });
  const transfers = useRead('GET /engagements/{engagement_id}/transfers', { path });
  const name = useVisitorName(engagement.site_id, engagement.visitor_id);
  const messages = transcript.data?.data ?? [];
  const isRead = transcript.data !== undefined && transfers.data !== undefined;
  const thread = isRead ? threadOf({ messages, engagement, transfers: transfers.data.data.transfers }) : [];
  return (
    <Modal opened onClose={close} title={new Date(engagement.started_at).toLocaleString()} size="lg">
      <ProblemNote error={transcript.error ?? transfers.error} />
      {transcript.isPending || transfers.isPending ? <Loader aria-label={texts.loading} /> : null}
      {isRead && thread.length === 0 ? <Text c="dimmed">{texts.noMessages}</Text> : null}
      <Stack gap={6}>
        {thread.map((entry) =>
          entry.kind === 'message' ? (
            <MessageView
              key={entry.id}
              chat={{ id: engagement.id, engagement, messages }}
              message={entry.message}
              name={name}
            />
          ) : (
            <ThreadNote key={entry.id} entry={entry} />
          ),
        )}
      </Stack>
    </Modal>
  );
}
