import { Loader, Stack, Text, Title } from '@mantine/core';
import { UsherError } from '@usher/sdk/errors';
import type { ReactElement } from 'react';
import { ProblemNote } from '../../../components/problem.tsx';
import { useRead } from '../../../data/use-api.ts';
import type { Conversation } from '../conversation/conversation.ts';
import { texts } from '../texts.ts';
import { PastEngagements } from './past-engagements.tsx';
import { VisitorForm } from './visitor-form.tsx';

/** The details of the visitor and their previous conversations. */
export function VisitorPanel({ chat }: { readonly chat: Conversation }): ReactElement {
  const { site_id, visitor_id } = chat.engagement;
  const visitor = useRead('GET /sites/{site_id}/visitors/{visitor_id}', { path: { site_id, visitor_id } });
  const isElsewhere = visitor.error instanceof UsherError && visitor.error.status === 404;
  return (
    <Stack gap="lg">
      {visitor.data === undefined ? (
        visitor.isPending ? (
          <Loader size="sm" aria-label={texts.loading} />
        ) : isElsewhere ? (
          <Text size="sm" c="dimmed">
            {texts.visitorOnAnotherSite}
          </Text>
        ) : (
          <ProblemNote error={visitor.error} />
        )
      ) : (
        <VisitorForm visitor={visitor.data.data} />
      )}
      <section aria-label={texts.previousConversations}>
        <Title order={3} size="h6" mb={6}>
          {texts.previousConversations}
        </Title>
        <PastEngagements key={chat.id} chat={chat} />
      </section>
    </Stack>
  );
}
