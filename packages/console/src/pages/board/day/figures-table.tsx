import { Table } from '@mantine/core';
import type { QueueStatsInterval } from '@usher/sdk/api-types';
import type { ReactElement } from 'react';
import { formatClock } from '../../../components/time/duration.ts';
import { formatTime } from '../../../components/time/time.ts';
import { texts } from '../texts.ts';
import classes from './day.module.css';

const columns: readonly (readonly [name: string, value: (each: QueueStatsInterval) => string | number])[] = [
  [texts.offered, (each) => each.arrivals],
  [texts.answered, (each) => each.engaged],
  [texts.answeredInAnotherQueue, (each) => each.engaged_elsewhere],
  [texts.stillWaiting, (each) => each.waiting],
  [texts.abandoned, (each) => each.abandoned],
  [texts.expired, (each) => each.expired],
  [texts.unstaffed, (each) => each.unstaffed],
  [texts.overflowed, (each) => each.rerouted],
  [texts.averageWait, (each) => clock(each.average_wait_sec)],
  [texts.longestWait, (each) => clock(each.longest_wait_sec)],
  [texts.serviceLevel, (each) => percent(each.within_service_level)],
];

const clock = (seconds: number | null): string => (seconds === null ? '–' : formatClock(seconds));
const percent = (share: number | null): string => (share === null ? '–' : `${Math.round(share * 100)} %`);

/** The exact numbers behind the charts. */
export function FiguresTable({ intervals }: { readonly intervals: readonly QueueStatsInterval[] }): ReactElement {
  return (
    <details>
      <summary className={classes['summary']}>{texts.dayAsTable}</summary>
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- a scrollable region must be reachable by keyboard. */}
      <section className={classes['scroll']} tabIndex={0} aria-label={texts.dayAsTable}>
        <Table className="tabular" stickyHeader fz="xs" horizontalSpacing="xs" verticalSpacing={4}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th scope="col">{texts.from}</Table.Th>
              {columns.map(([name]) => (
                <Table.Th key={name} scope="col" ta="right">
                  {name}
                </Table.Th>
              ))}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {intervals.map((each) => (
              <Table.Tr key={each.from}>
                <Table.Th scope="row" title={formatTime(each.from, 'full')}>
                  {formatTime(each.from, 'time')}
                </Table.Th>
                {columns.map(([name, value]) => (
                  <Table.Td key={name} ta="right">
                    {value(each)}
                  </Table.Td>
                ))}
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </section>
    </details>
  );
}
