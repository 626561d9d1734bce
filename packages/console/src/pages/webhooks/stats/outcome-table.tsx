import { Table, Text } from '@mantine/core';
import type { WebhookStatsStep } from '@usher/sdk/api-types';
import type { ReactElement } from 'react';
import { Timestamp } from '../../../components/time/timestamp.tsx';
import { texts } from '../texts.ts';
import { formatMs } from '../labels.ts';

/** The numbers of the charts, newest first, without empty intervals. */
export function OutcomeTable({ steps }: { readonly steps: readonly WebhookStatsStep[] }): ReactElement {
  const rows = steps.filter(({ median_ms }) => median_ms !== null).toReversed();
  if (rows.length === 0) return <Text size="sm">{texts.noAttemptsInPeriod}</Text>;
  const ms = (value: number | null): string => (value === null ? '' : formatMs(value));
  return (
    <Table aria-label={texts.outcomes} verticalSpacing={4} ta="right" className="tabular">
      <Table.Thead>
        <Table.Tr>
          <Table.Th>{texts.from}</Table.Th>
          <Table.Th ta="right">{texts.delivered}</Table.Th>
          <Table.Th ta="right">{texts.failedAttempts}</Table.Th>
          <Table.Th ta="right">{texts.failed}</Table.Th>
          <Table.Th ta="right" visibleFrom="xs">
            {texts.median}
          </Table.Th>
          <Table.Th ta="right" visibleFrom="xs">
            {texts.p95}
          </Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {rows.map((step) => (
          <Table.Tr key={step.at}>
            <Table.Td ta="left">
              <Timestamp format="recent" at={step.at} />
            </Table.Td>
            <Table.Td>{step.delivered.toLocaleString()}</Table.Td>
            <Table.Td>{step.failed.toLocaleString()}</Table.Td>
            <Table.Td>{step.given_up.toLocaleString()}</Table.Td>
            <Table.Td visibleFrom="xs">{ms(step.median_ms)}</Table.Td>
            <Table.Td visibleFrom="xs">{ms(step.p95_ms)}</Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}
