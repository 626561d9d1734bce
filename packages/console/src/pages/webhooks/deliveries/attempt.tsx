import { Accordion, Group, Stack, Table, Text, Title } from '@mantine/core';
import type { DeliveryAttempt, DeliveryDetails, Webhook } from '@usher/sdk/api-types';
import type { ReactElement } from 'react';
import { Timestamp } from '../../../components/time/timestamp.tsx';
import { LongText } from '../long-text.tsx';
import { texts } from '../texts.ts';
import { requestOf } from './request-of.ts';
import { StateBadge } from '../stats/webhook-status.tsx';
import { formatMs } from '../labels.ts';

/** An attempt in one line: time, result and duration. */
export function AttemptLine({ attempt }: { readonly attempt: DeliveryAttempt }): ReactElement {
  const { at, state, status, duration_ms: tookMs, error } = attempt;
  return (
    <Group gap="xs" wrap="wrap">
      <Timestamp format="recent" at={at} />
      <StateBadge state={state} />
      <Text size="sm" span className="tabular">
        {tookMs === null
          ? texts.notSent
          : status === null
            ? texts.noResponseAfter(formatMs(tookMs))
            : texts.statusAfter(status, formatMs(tookMs))}
      </Text>
      {error === null || status !== null ? null : (
        <Text size="sm" span className="user-text">
          {error}
        </Text>
      )}
    </Group>
  );
}

interface Props {
  readonly webhook: Webhook;
  readonly delivery: DeliveryDetails;
}

/** The attempts with request and response; the last one is expanded. */
export function Attempts({ webhook, delivery }: Props): ReactElement {
  const { attempts } = delivery;
  if (attempts.length === 0) return <Text size="sm">{texts.noAttemptsYet}</Text>;
  return (
    <Accordion defaultValue={String(attempts.length)} chevronPosition="left" variant="separated" order={4}>
      {attempts.map((attempt, index) => (
        <Accordion.Item key={`${attempt.at} ${attempt.state}`} value={String(index + 1)}>
          <Accordion.Control>
            <AttemptLine attempt={attempt} />
          </Accordion.Control>
          <Accordion.Panel>
            <Exchange webhook={webhook} delivery={delivery} attempt={attempt} />
          </Accordion.Panel>
        </Accordion.Item>
      ))}
    </Accordion>
  );
}

function Exchange({ webhook, delivery, attempt }: Props & { readonly attempt: DeliveryAttempt }): ReactElement {
  const request = requestOf(webhook, delivery.event_id, attempt);
  const { payload } = delivery.event;
  return (
    <Stack gap="sm">
      {request === null ? null : (
        <section>
          <Title order={5} size="sm" mb={4}>
            {texts.request}
          </Title>
          <Text size="sm" ff="monospace" className="user-text">
            {request.line}
          </Text>
          <Pairs pairs={request.headers} label={texts.requestHeaders} />
          {payload === null ? (
            <Text size="sm">{texts.eventNoLongerStored}</Text>
          ) : (
            <LongText label={texts.requestBody} text={JSON.stringify(payload)} />
          )}
        </section>
      )}
      <section>
        <Title order={5} size="sm" mb={4}>
          {texts.response}
        </Title>
        <Text size="sm" className="user-text">
          {attempt.status === null ? texts.noResponse : texts.statusCode(attempt.status)}
          {attempt.error === null ? '' : `: ${attempt.error}`}
        </Text>
        {attempt.answer === null || attempt.answer === '' ? null : (
          <LongText label={texts.responseBody} text={attempt.answer} />
        )}
      </section>
    </Stack>
  );
}

function Pairs({
  pairs,
  label,
}: {
  readonly pairs: readonly (readonly [string, string])[];
  readonly label: string;
}): ReactElement {
  return (
    <Table verticalSpacing={2} fz="xs" ff="monospace" withRowBorders={false} my={4} aria-label={label} layout="fixed">
      <Table.Tbody>
        {pairs.map(([name, value]) => (
          <Table.Tr key={name}>
            <Table.Th w="38%" fw={500} className="user-text">
              {name}
            </Table.Th>
            <Table.Td className="user-text">{value}</Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}
