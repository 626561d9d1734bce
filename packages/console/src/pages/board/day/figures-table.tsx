import { Table } from '@mantine/core';
import type { QueueStatsInterval } from '@usher/client/api-types';
import type { ReactElement } from 'react';
import { inClock } from '../../../components/duration.ts';
import { formatTime } from '../../../components/time.ts';
import classes from './day.module.css';

const columns: readonly (readonly [name: string, value: (each: QueueStatsInterval) => string | number])[] = [
  ['Offered', (each) => each.arrivals],
  ['Answered', (each) => each.engaged],
  ['Answered in another queue', (each) => each.engaged_elsewhere],
  ['Still waiting', (each) => each.waiting],
  ['Abandoned', (each) => each.abandoned],
  ['Expired', (each) => each.expired],
  ['Unstaffed', (each) => each.unstaffed],
  ['Overflowed', (each) => each.rerouted],
  ['Average wait', (each) => clock(each.average_wait_sec)],
  ['Longest wait', (each) => clock(each.longest_wait_sec)],
  ['Service level', (each) => percent(each.within_service_level)],
];

const clock = (seconds: number | null): string => (seconds === null ? '–' : inClock(seconds));
const percent = (share: number | null): string => (share === null ? '–' : `${Math.round(share * 100)} %`);

/** The same as the charts, and more exactly. */
export function FiguresTable({ intervals }: { readonly intervals: readonly QueueStatsInterval[] }): ReactElement {
  return (
    <details>
      <summary className={classes['summary']}>The day as a table</summary>
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- what scrolls must be reached by keys. */}
      <section className={classes['scroll']} tabIndex={0} aria-label="The day as a table">
        <Table className="tabular" stickyHeader fz="xs" horizontalSpacing="xs" verticalSpacing={4}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th scope="col">From</Table.Th>
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
