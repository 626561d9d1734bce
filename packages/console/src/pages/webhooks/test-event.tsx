import { Alert, Anchor, Button, Group, Loader, Modal, Select, Stack, Text } from '@mantine/core';
import type { Webhook } from '@usher/client/api-types';
import { useState, type ReactElement } from 'react';
import { Link } from 'wouter';
import { ProblemNote } from '../../components/problem.tsx';
import { useChange } from '../../data/use-api.ts';
import { AttemptLine } from './attempt.tsx';
import type { EventName } from './fields.ts';
import { StateBadge } from './standing.tsx';
import { useDelivery } from './use-delivery.ts';
import { useEventTypes } from './use-event-types.ts';
import { When } from './when.tsx';

/** Sends a sample event to the webhook alone, and shows what becomes of it. */
export function TestEvent({
  webhook,
  onClose,
}: {
  readonly webhook: Webhook;
  readonly onClose: () => void;
}): ReactElement {
  const { all } = useEventTypes();
  const [type, setType] = useState<EventName>(webhook.events[0] ?? 'engagement.start');
  const send = useChange('POST /webhooks/{webhook_id}/test', { refresh: ['GET /webhooks/{webhook_id}/deliveries'] });
  const sent = send.data?.data.delivery_id ?? null;
  return (
    <Modal opened onClose={onClose} title="Send a test event" size="lg" closeButtonProps={{ 'aria-label': 'Close' }}>
      <Stack>
        <Select
          label="Event type"
          description={all.find(({ event_type }) => event_type === type)?.description ?? ' '}
          data={all.map(({ event_type }) => event_type)}
          value={type}
          onChange={(value) => setType(value ?? type)}
          allowDeselect={false}
          searchable
        />
        <Text size="sm" c="dimmed">
          A sample of this type is sent to this webhook and to nobody else, whether it hears of the type or not.
        </Text>
        <ProblemNote error={send.error} />
        <Group>
          <Button
            loading={send.isPending}
            onClick={() => send.mutate({ path: { webhook_id: webhook.id }, body: { event_type: type } })}
          >
            {sent === null ? 'Send' : 'Send another'}
          </Button>
        </Group>
        {sent === null ? null : <Result key={sent} id={sent} webhookId={webhook.id} />}
      </Stack>
    </Modal>
  );
}

function Result({ id, webhookId }: { readonly id: string; readonly webhookId: string }): ReactElement {
  const read = useDelivery(id);
  const delivery = read.data?.data;
  if (delivery === undefined)
    return read.isError ? <ProblemNote error={read.error} /> : <Loader size="sm" aria-label="Sending" />;
  const { state, attempts, next_attempt_at: next } = delivery;
  return (
    <Alert color={state === 'delivered' ? 'green' : state === 'pending' ? 'blue' : 'orange'}>
      <Stack gap="xs">
        <Group gap="xs" component="output">
          <StateBadge state={state} />
          {state === 'pending' ? <Text size="sm">It is on its way.</Text> : null}
          {next === null || state !== 'retrying' ? null : (
            <Text size="sm">
              The next attempt is at <When at={next} />.
            </Text>
          )}
        </Group>
        {attempts.map((attempt) => (
          <AttemptLine key={attempt.at} attempt={attempt} />
        ))}
        <Anchor component={Link} href={`/webhooks/${webhookId}/deliveries/${id}`} size="sm" w="fit-content">
          All of this delivery
        </Anchor>
      </Stack>
    </Alert>
  );
}
