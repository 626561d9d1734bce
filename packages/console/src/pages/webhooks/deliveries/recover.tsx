import { Badge, Button, Group, Loader, Stack, Table, Text, TextInput, Title } from '@mantine/core';
import type { Webhook, WebhookRecovery } from '@usher/sdk/api-types';
import { useState, type SubmitEvent, type ReactElement } from 'react';
import { RichText } from '../../../components/rich-text.tsx';
import { Timestamp } from '../../../components/time/timestamp.tsx';
import { hasOnlyFieldErrors } from '../../../components/faults.ts';
import { ProblemNote } from '../../../components/problem.tsx';
import { UsherError } from '@usher/sdk/errors';
import { useChange, useRead } from '../../../data/use-api.ts';
import { texts } from '../texts.ts';
import { instantOf, localOf } from './filter.ts';

const dayMs = 86_400_000;
/** Poll interval: a running recovery makes progress, and others may start one. */
const pollMs = 2_000;
const maxShown = 20;

const stateLabels: Readonly<Record<WebhookRecovery['state'], { label: string; color: string }>> = {
  running: { label: texts.running, color: 'blue' },
  finished: { label: texts.finished, color: 'green' },
  stopped: { label: texts.recoveryStopped, color: 'orange' },
};

/** Replays what a webhook missed in a period, e.g. while the receiver was down or the webhook disabled. */
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
    recover.error instanceof UsherError ? recover.error.field(name) : undefined;
  return (
    <Stack maw={820} gap="lg">
      <form onSubmit={submit} aria-label={texts.recover}>
        <Stack gap="sm">
          <Text size="sm">{texts.recoverHelp}</Text>
          <Group gap="xs" align="flex-start">
            <TextInput
              label={texts.from}
              type="datetime-local"
              required
              value={since}
              error={fault('since')}
              onChange={(event) => setSince(event.currentTarget.value)}
            />
            <TextInput
              label={texts.toOptional}
              type="datetime-local"
              value={until}
              error={fault('until')}
              onChange={(event) => setUntil(event.currentTarget.value)}
            />
          </Group>
          {hasOnlyFieldErrors(recover.error) ? null : <ProblemNote error={recover.error} />}
          {webhook.enabled ? null : <Text size="sm">{texts.enableFirstSentence}</Text>}
          <Button type="submit" w="fit-content" loading={recover.isPending} disabled={!webhook.enabled || since === ''}>
            {texts.recover}
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
    { path: { webhook_id: id }, query: { per_page: maxShown } },
    { refetchInterval: pollMs },
  );
  const recoveries = read.data?.data.recoveries;
  return (
    <section aria-labelledby="recoveries">
      <Title order={2} size="h5" id="recoveries" mb="xs">
        {texts.recoveries}
      </Title>
      <ProblemNote error={read.error} />
      {recoveries === undefined ? (
        read.isError ? null : (
          <Loader size="sm" aria-label={texts.loading} />
        )
      ) : recoveries.length === 0 ? (
        <Text size="sm">{texts.noRecoveriesYet}</Text>
      ) : (
        <Table aria-label={texts.recoveries} verticalSpacing="xs">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{texts.events}</Table.Th>
              <Table.Th>{texts.state}</Table.Th>
              <Table.Th ta="right">{texts.replayed}</Table.Th>
              <Table.Th visibleFrom="sm">{texts.started}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {recoveries.map((recovery) => (
              <Table.Tr key={recovery.id}>
                <Table.Td>
                  <RichText
                    text={recovery.until === null ? texts.fromTime : texts.fromTimeToTime}
                    values={{
                      from: <Timestamp format="recent" at={recovery.since} />,
                      to: recovery.until === null ? null : <Timestamp format="recent" at={recovery.until} />,
                    }}
                  />
                </Table.Td>
                <Table.Td>
                  <Badge color={stateLabels[recovery.state].color} variant="light" tt="none">
                    {stateLabels[recovery.state].label}
                  </Badge>
                </Table.Td>
                <Table.Td ta="right" className="tabular">
                  {recovery.recovered.toLocaleString()}
                </Table.Td>
                <Table.Td visibleFrom="sm">
                  <Timestamp format="recent" at={recovery.created_at} />
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      )}
    </section>
  );
}
