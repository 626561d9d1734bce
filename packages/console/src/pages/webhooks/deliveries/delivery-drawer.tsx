import { Button, Code, Drawer, getDefaultZIndex, Group, Loader, Stack, Table, Text, Title } from '@mantine/core';
import type { DeliveryDetails, Webhook } from '@usher/sdk/api-types';
import type { ReactElement, ReactNode } from 'react';
import { useLocation, useSearch } from 'wouter';
import { Timestamp } from '../../../components/time/timestamp.tsx';
import { ProblemNote } from '../../../components/problem.tsx';
import { useChange } from '../../../data/use-api.ts';
import { texts } from '../texts.ts';
import { Attempts } from './attempt.tsx';
import { LongText } from '../long-text.tsx';
import { StateBadge } from '../stats/webhook-status.tsx';
import { useDelivery } from './use-delivery.ts';
import { states } from '../labels.ts';

/** One delivery beside the list of all: its event, every attempt, and what comes next. */
export function DeliveryDrawer({
  webhook,
  id,
}: {
  readonly webhook: Webhook;
  readonly id: string | null;
}): ReactElement {
  const [, go] = useLocation();
  const search = useSearch();
  return (
    <Drawer
      opened={id !== null}
      onClose={() => go(`/webhooks/${webhook.id}/deliveries${search === '' ? '' : `?${search}`}`)}
      position="right"
      size="xl"
      title={texts.delivery}
      closeButtonProps={{ 'aria-label': texts.close }}
      // Above the dialog that sends a test event, from which a delivery can be opened.
      zIndex={getDefaultZIndex('modal') + 1}
    >
      {id === null ? null : <Details key={id} id={id} webhook={webhook} />}
    </Drawer>
  );
}

function Details({ id, webhook }: { readonly id: string; readonly webhook: Webhook }): ReactElement {
  const read = useDelivery(id);
  const replay = useChange('POST /deliveries/{delivery_id}/replay', {
    refresh: ['GET /deliveries/{delivery_id}', 'GET /webhooks/{webhook_id}/deliveries'],
  });
  const delivery = read.data?.data;
  if (delivery === undefined)
    return read.isError ? <ProblemNote error={read.error} /> : <Loader size="sm" aria-label={texts.loading} />;
  return (
    <Stack>
      <Group justify="space-between">
        <Group gap="xs">
          <StateBadge state={delivery.state} />
          <Text size="sm">{states[delivery.state].meaning}</Text>
        </Group>
        <Button
          size="xs"
          variant="default"
          loading={replay.isPending}
          disabled={!webhook.enabled}
          title={webhook.enabled ? undefined : texts.enableWebhookFirst}
          onClick={() => replay.mutate({ path: { delivery_id: id }, body: {} })}
        >
          {delivery.state === 'retrying' ? texts.retryNow : texts.replay}
        </Button>
      </Group>
      <ProblemNote error={replay.error} />
      <Facts delivery={delivery} />
      <section>
        <Title order={3} size="h5" mb="xs">
          {texts.attempts}
        </Title>
        <Attempts key={delivery.attempts.length} webhook={webhook} delivery={delivery} />
        <Text size="xs" c="dimmed" mt={6}>
          {texts.attemptsHelp}
        </Text>
      </section>
      <section>
        <Title order={3} size="h5" mb="xs">
          {texts.event}
        </Title>
        {delivery.event.payload === null ? (
          <Text size="sm">{texts.cannotReplay}</Text>
        ) : (
          <LongText label={texts.event} text={JSON.stringify(delivery.event.payload, null, 2)} />
        )}
      </section>
    </Stack>
  );
}

function Facts({ delivery }: { readonly delivery: DeliveryDetails }): ReactElement {
  const { event_type, occurred_at, next_attempt_at, finished_at, engagement_id, event_id, id, parked } = delivery;
  const rows: readonly (readonly [string, ReactNode])[] = [
    [texts.eventType, event_type],
    [texts.occurred, <Timestamp key="occurred" format="recent" at={occurred_at} />],
    ...(next_attempt_at === null
      ? []
      : [[texts.nextAttempt, <Timestamp key="next" format="recent" at={next_attempt_at} />] as const]),
    ...(finished_at === null
      ? []
      : [[texts.finished, <Timestamp key="finished" format="recent" at={finished_at} />] as const]),
    [texts.order, engagement_id === null ? texts.unordered : parked ? texts.outOfOrder : texts.inOrderPerConversation],
    [texts.delivery, <Code key="id">{id}</Code>],
    [texts.event, <Code key="event">{event_id}</Code>],
    ...(engagement_id === null ? [] : [[texts.conversation, <Code key="engagement">{engagement_id}</Code>] as const]),
  ];
  return (
    <Table verticalSpacing={4} withRowBorders={false} aria-label={texts.deliveryDetails}>
      <Table.Tbody>
        {rows.map(([name, value]) => (
          <Table.Tr key={name}>
            <Table.Th w={120} fw={500} c="dimmed">
              {name}
            </Table.Th>
            <Table.Td>{value}</Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}
