import { Badge, Button, Group, Loader, Stack, Table, Text, TextInput, Title } from '@mantine/core';
import type { Webhook, WebhookRecovery } from '@usher/client/api-types';
import { useState, type SubmitEvent, type ReactElement } from 'react';
import { At } from '../../../components/at.tsx';
import { isAtFields } from '../../../components/faults.ts';
import { ProblemNote } from '../../../components/problem.tsx';
import { ProblemError } from '@usher/client/problem';
import { useChange, useRead } from '../../../data/use-api.ts';
import { instantOf, localOf } from './filter.ts';

const dayMs = 86_400_000;
/** While one is running its progress moves; others may start one too. */
const everyMs = 2_000;
const shown = 20;

const words: Readonly<Record<WebhookRecovery['state'], { label: string; color: string }>> = {
  running: { label: 'Running', color: 'blue' },
  finished: { label: 'Finished', color: 'green' },
  stopped: { label: 'Stopped: the webhook was switched off or deleted', color: 'orange' },
};

/** Sends again what a webhook has missed since a time: after the receiver was down, or the webhook off. */
export function Recover({ webhook }: { readonly webhook: Webhook }): ReactElement {
  const [since, setSince] = useState(() => localOf(new Date(Date.now() - dayMs)));
  const [until, setUntil] = useState('');
  const recover = useChange('POST /webhooks/{webhook_id}/recover', {
    refresh: ['GET /webhooks/{webhook_id}/recoveries', 'GET /webhooks/{webhook_id}/deliveries'],
  });
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    const body = { since: instantOf(since), ...(until === '' ? {} : { until: instantOf(until) }) };
    recover.mutate({ path: { webhook_id: webhook.id }, body });
  };
  const fault = (name: string): string | undefined =>
    recover.error instanceof ProblemError ? recover.error.field(name) : undefined;
  return (
    <Stack maw={820} gap="lg">
      <form onSubmit={submit} aria-label="Recover">
        <Stack gap="sm">
          <Text size="sm">
            Deliveries that are held or were given up are sent again, in the order of their events and in the
            background. Those that arrived are not, nor those that wait already.
          </Text>
          <Group gap="xs" align="flex-start">
            <TextInput
              label="From"
              type="datetime-local"
              required
              value={since}
              error={fault('since')}
              onChange={(event) => setSince(event.currentTarget.value)}
            />
            <TextInput
              label="To (optional)"
              type="datetime-local"
              value={until}
              error={fault('until')}
              onChange={(event) => setUntil(event.currentTarget.value)}
            />
          </Group>
          {isAtFields(recover.error) ? null : <ProblemNote error={recover.error} />}
          {webhook.enabled ? null : (
            <Text size="sm">Switch the webhook on first: nothing is sent while it is off.</Text>
          )}
          <Button type="submit" w="fit-content" loading={recover.isPending} disabled={!webhook.enabled || since === ''}>
            Recover
          </Button>
        </Stack>
      </form>
      <Recoveries id={webhook.id} />
    </Stack>
  );
}

function Recoveries({ id }: { readonly id: string }): ReactElement {
  const read = useRead(
    'GET /webhooks/{webhook_id}/recoveries',
    { path: { webhook_id: id }, query: { per_page: shown } },
    { refetchInterval: everyMs },
  );
  const recoveries = read.data?.data.recoveries;
  return (
    <section aria-labelledby="recoveries">
      <Title order={2} size="h5" id="recoveries" mb="xs">
        Recoveries
      </Title>
      <ProblemNote error={read.error} />
      {recoveries === undefined ? (
        read.isError ? null : (
          <Loader size="sm" aria-label="Loading" />
        )
      ) : recoveries.length === 0 ? (
        <Text size="sm">No recoveries yet</Text>
      ) : (
        <Table aria-label="Recoveries" verticalSpacing="xs">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Events</Table.Th>
              <Table.Th>State</Table.Th>
              <Table.Th ta="right">Sent again</Table.Th>
              <Table.Th visibleFrom="sm">Started</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {recoveries.map((recovery) => (
              <Table.Tr key={recovery.id}>
                <Table.Td>
                  since <At format="recent" at={recovery.since} />
                  {recovery.until === null ? null : (
                    <>
                      {' '}
                      until <At format="recent" at={recovery.until} />
                    </>
                  )}
                </Table.Td>
                <Table.Td>
                  <Badge color={words[recovery.state].color} variant="light" tt="none">
                    {words[recovery.state].label}
                  </Badge>
                </Table.Td>
                <Table.Td ta="right" className="tabular">
                  {recovery.recovered.toLocaleString()}
                </Table.Td>
                <Table.Td visibleFrom="sm">
                  <At format="recent" at={recovery.created_at} />
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      )}
    </section>
  );
}
