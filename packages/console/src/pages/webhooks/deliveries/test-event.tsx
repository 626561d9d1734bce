import { Alert, Anchor, Button, Group, Loader, Modal, Select, Stack, Text } from '@mantine/core';
import type { Webhook } from '@usher/sdk/api-types';
import { useEffect, useState, type ReactElement } from 'react';
import { Link } from 'wouter';
import { RichText } from '../../../components/rich-text.tsx';
import { Timestamp } from '../../../components/time/timestamp.tsx';
import { ProblemNote } from '../../../components/problem.tsx';
import { useChange } from '../../../data/use-api.ts';
import { texts } from '../texts.ts';
import { AttemptLine } from './attempt.tsx';
import type { EventName } from '../registrations/fields.ts';
import { StateBadge } from '../stats/webhook-status.tsx';
import { useDelivery } from './use-delivery.ts';
import { useEventTypes } from '../catalogue/use-event-types.ts';

interface Props {
  readonly webhook: Webhook;
  /** The drawer of a delivery is open above this dialog: the keyboard belongs to the drawer. */
  readonly isCovered: boolean;
  readonly onClose: () => void;
}

/** Sends a sample event to this webhook only, and shows what becomes of it. */
export function TestEvent({ webhook, isCovered, onClose }: Props): ReactElement {
  const lacksKeyboard = useUntilNextTask(isCovered);
  const { all } = useEventTypes();
  const [type, setType] = useState<EventName>(webhook.events[0] ?? 'engagement.start');
  const send = useChange('POST /webhooks/{webhook_id}/test', { refresh: ['GET /webhooks/{webhook_id}/deliveries'] });
  const sent = send.data?.data.delivery_id ?? null;
  return (
    <Modal
      opened
      onClose={onClose}
      title={texts.sendTestEvent}
      size="lg"
      closeButtonProps={{ 'aria-label': texts.close }}
      trapFocus={!lacksKeyboard}
      closeOnEscape={!lacksKeyboard}
    >
      <Stack>
        <Select
          label={texts.eventType}
          description={all.find(({ event_type }) => event_type === type)?.description ?? ' '}
          data={all.map(({ event_type }) => event_type)}
          value={type}
          onChange={(value) => setType(value ?? type)}
          allowDeselect={false}
          searchable
        />
        <Text size="sm" c="dimmed">
          {texts.testEventHelp}
        </Text>
        <ProblemNote error={send.error} />
        <Group>
          <Button
            loading={send.isPending}
            onClick={() => send.mutate({ path: { webhook_id: webhook.id }, body: { event_type: type } })}
          >
            {sent === null ? texts.send : texts.sendAnother}
          </Button>
        </Group>
        {sent === null ? null : <Result key={sent} id={sent} webhookId={webhook.id} />}
      </Stack>
    </Modal>
  );
}

/**
 * Becomes true with its argument, and false a task later. Both the drawer and this dialog listen for Escape, and React renders
 * between two listeners of one event: without the delay the Escape that closes the drawer would close the dialog, too.
 */
function useUntilNextTask(value: boolean): boolean {
  const [last, setLast] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setLast(value));
    return () => clearTimeout(timer);
  }, [value]);
  return value || last;
}

function Result({ id, webhookId }: { readonly id: string; readonly webhookId: string }): ReactElement {
  const read = useDelivery(id);
  const delivery = read.data?.data;
  if (delivery === undefined)
    return read.isError ? <ProblemNote error={read.error} /> : <Loader size="sm" aria-label={texts.sending} />;
  const { state, attempts, next_attempt_at: next } = delivery;
  return (
    <Alert color={state === 'delivered' ? 'green' : state === 'pending' ? 'blue' : 'orange'}>
      <Stack gap="xs">
        <Group gap="xs" component="output">
          <StateBadge state={state} />
          {state === 'pending' ? <Text size="sm">{texts.sendingProgress}</Text> : null}
          {next === null || state !== 'retrying' ? null : (
            <Text size="sm">
              <RichText text={texts.nextAttemptIs} values={{ time: <Timestamp format="recent" at={next} /> }} />
            </Text>
          )}
        </Group>
        {attempts.map((attempt) => (
          <AttemptLine key={attempt.at} attempt={attempt} />
        ))}
        <Anchor
          component={Link}
          href={`/webhooks/${webhookId}/deliveries/${id}`}
          size="sm"
          w="fit-content"
          // Where the focus returns to when the drawer closes and this dialog has the keyboard again.
          data-autofocus
        >
          {texts.viewDelivery}
        </Anchor>
      </Stack>
    </Alert>
  );
}
