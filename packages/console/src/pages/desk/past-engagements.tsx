import { Loader, Modal, Stack, Text, UnstyledButton } from '@mantine/core';
import type { Engagement } from '@usher/client/api-types';
import { useState, type ReactElement } from 'react';
import { mediumWords } from '../../components/medium.ts';
import { ProblemNote } from '../../components/problem.tsx';
import { useRead } from '../../data/use-api.ts';
import { useMe } from '../../data/use-me.ts';
import { useVisitorName } from '../../data/use-visitor.ts';
import type { Conversation } from './conversation.ts';
import { MessageView } from './message.tsx';

/** So many are listed, newest first. */
const mostShown = 20;

/** What the visitor was engaged in before, each with what was said. */
export function PastEngagements({ chat }: { readonly chat: Conversation }): ReactElement {
  const { sites } = useMe();
  const [open, setOpen] = useState<Engagement | null>(null);
  const query = { site_ids: sites.map(({ id }) => id), visitor_ids: [chat.engagement.visitor_id], per_page: mostShown };
  const { data, error, isPending } = useRead('GET /engagements', { query });
  const past = (data?.data.engagements ?? []).filter(({ id }) => id !== chat.id);
  if (isPending) return <Loader size="sm" aria-label="Loading" />;
  if (error !== null) return <ProblemNote error={error} />;
  if (past.length === 0)
    return (
      <Text size="sm" c="dimmed">
        This is the first time.
      </Text>
    );
  return (
    <Stack gap={2}>
      {past.map((engagement) => (
        <UnstyledButton key={engagement.id} onClick={() => setOpen(engagement)} py={4} fz="sm">
          {new Date(engagement.started_at).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'short' })}
          <Text span size="xs" c="dimmed" ml={6}>
            {mediumWords[engagement.media]}
          </Text>
        </UnstyledButton>
      ))}
      {open === null ? null : <Past engagement={open} close={() => setOpen(null)} />}
    </Stack>
  );
}

function Past({ engagement, close }: { readonly engagement: Engagement; readonly close: () => void }): ReactElement {
  const path = { engagement_id: engagement.id };
  const { data, error, isPending } = useRead('GET /engagements/{engagement_id}/chat_transcript', { path });
  const name = useVisitorName(engagement.site_id, engagement.visitor_id);
  const messages = data?.data ?? [];
  return (
    <Modal opened onClose={close} title={new Date(engagement.started_at).toLocaleString()} size="lg">
      <ProblemNote error={error} />
      {isPending ? <Loader aria-label="Loading" /> : null}
      {data !== undefined && messages.length === 0 ? <Text c="dimmed">Nothing was said.</Text> : null}
      <Stack gap={6}>
        {messages.map((message) => (
          <MessageView
            key={message.id}
            chat={{ id: engagement.id, engagement, messages }}
            message={message}
            name={name}
          />
        ))}
      </Stack>
    </Modal>
  );
}
