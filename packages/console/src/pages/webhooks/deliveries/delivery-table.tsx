import { Anchor, Checkbox, Group, Table, Text } from '@mantine/core';
import type { Delivery } from '@usher/sdk/api-types';
import type { ReactElement } from 'react';
import { Link, useSearch } from 'wouter';
import { RichText } from '../../../components/rich-text.tsx';
import { Timestamp } from '../../../components/time/timestamp.tsx';
import { formatTime } from '../../../components/time/time.ts';
import { StateBadge } from '../stats/webhook-status.tsx';
import { texts } from '../texts.ts';

interface Props {
  readonly webhookId: string;
  readonly rows: readonly Delivery[];
  readonly chosen: ReadonlySet<string>;
  readonly onChoose: (ids: ReadonlySet<string>) => void;
}

export function DeliveryTable({ webhookId, rows, chosen, onChoose }: Props): ReactElement {
  const search = useSearch();
  const ids = rows.map(({ id }) => id);
  const selectedCount = ids.filter((id) => chosen.has(id)).length;
  const choose = (which: readonly string[], on: boolean): void => {
    const next = new Set(chosen);
    for (const id of which) {
      if (on) next.add(id);
      else next.delete(id);
    }
    onChoose(next);
  };
  return (
    <Table aria-label={texts.deliveries} highlightOnHover verticalSpacing="xs">
      <Table.Thead>
        <Table.Tr>
          <Table.Th w={36}>
            <Checkbox
              aria-label={texts.selectAllOnPage}
              checked={selectedCount === ids.length}
              indeterminate={selectedCount > 0 && selectedCount < ids.length}
              onChange={(event) => choose(ids, event.currentTarget.checked)}
            />
          </Table.Th>
          <Table.Th>{texts.event}</Table.Th>
          <Table.Th>{texts.state}</Table.Th>
          <Table.Th visibleFrom="sm">{texts.response}</Table.Th>
          <Table.Th visibleFrom="xs">{texts.occurred}</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {rows.map((delivery) => (
          <Table.Tr key={delivery.id} bg={chosen.has(delivery.id) ? 'var(--mantine-color-blue-light)' : 'transparent'}>
            <Table.Td>
              <Checkbox
                aria-label={texts.selectDelivery(delivery.event_type, formatTime(delivery.occurred_at, 'recent'))}
                checked={chosen.has(delivery.id)}
                onChange={(event) => choose([delivery.id], event.currentTarget.checked)}
              />
            </Table.Td>
            <Table.Td>
              <Anchor
                component={Link}
                href={`/webhooks/${webhookId}/deliveries/${delivery.id}${search === '' ? '' : `?${search}`}`}
                size="sm"
              >
                {delivery.event_type}
              </Anchor>
              <Text size="sm" c="dimmed" hiddenFrom="xs">
                <Timestamp format="recent" at={delivery.occurred_at} />
              </Text>
            </Table.Td>
            <Table.Td>
              <StateCell delivery={delivery} />
            </Table.Td>
            <Table.Td visibleFrom="sm">
              <Text size="sm" className="user-text" lineClamp={2} title={answerOf(delivery)}>
                {answerOf(delivery)}
              </Text>
            </Table.Td>
            <Table.Td visibleFrom="xs">
              <Timestamp format="recent" at={delivery.occurred_at} />
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}

function StateCell({ delivery }: { readonly delivery: Delivery }): ReactElement {
  const { state, next_attempt_at: next } = delivery;
  return (
    <Group gap={6}>
      <StateBadge state={state} />
      {state !== 'retrying' || next === null ? null : (
        <Text size="sm" span>
          <RichText text={texts.nextAttemptAt} values={{ time: <Timestamp format="recent" at={next} /> }} />
        </Text>
      )}
      <Text size="sm" c="dimmed" className="user-text" hiddenFrom="sm">
        {answerOf(delivery)}
      </Text>
    </Group>
  );
}

function answerOf({ last_status: status, last_error: error }: Delivery): string {
  if (error !== null) return error;
  return status === null ? '' : String(status);
}
