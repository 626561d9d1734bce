import '@mantine/charts/styles.css';
import { BarChart, LineChart } from '@mantine/charts';
import { Title } from '@mantine/core';
import type { WebhookStatsStep } from '@usher/client/api-types';
import type { ReactElement } from 'react';
import classes from './outcome-charts.module.css';
import { sumOf, type SpanName } from './spans.ts';
import { inDuration } from './words.ts';

interface Props {
  readonly steps: readonly WebhookStatsStep[];
  readonly span: SpanName;
}

const clock: Intl.DateTimeFormatOptions = { hour: '2-digit', minute: '2-digit' };
const dayAndClock: Intl.DateTimeFormatOptions = { weekday: 'short', ...clock };

/** For those who see them; the same is there as a table. */
export function OutcomeCharts({ steps, span }: Props): ReactElement {
  const format = new Intl.DateTimeFormat(undefined, span === 'week' ? dayAndClock : clock);
  const data = steps.map(({ at, ...numbers }) => ({ at: format.format(new Date(at)), ...numbers }));
  const { delivered, failed, given_up: givenUp } = sumOf(steps);
  const common = {
    data,
    dataKey: 'at',
    h: 220,
    withLegend: true,
    tickLine: 'none',
    xAxisProps: { minTickGap: 40 },
  } as const;
  return (
    <>
      <figure
        className={classes['figure']}
        aria-label={`Attempts: ${delivered} delivered, ${failed} failed and tried again, ${givenUp} given up`}
      >
        <Title order={2} size="h5" mb="xs">
          Outcomes
        </Title>
        <BarChart
          {...common}
          type="stacked"
          yAxisProps={{ allowDecimals: false }}
          barChartProps={{ accessibilityLayer: false }}
          series={[
            { name: 'delivered', label: 'Delivered', color: 'teal.6' },
            { name: 'failed', label: 'Failed, tried again', color: 'yellow.6' },
            { name: 'given_up', label: 'Given up', color: 'red.7' },
          ]}
        />
      </figure>
      <figure
        className={classes['figure']}
        aria-label="How long attempts took: the median, and what 95 of 100 took at most"
      >
        <Title order={2} size="h5" mb="xs">
          How long attempts took
        </Title>
        <LineChart
          {...common}
          curveType="linear"
          connectNulls={false}
          lineChartProps={{ accessibilityLayer: false }}
          valueFormatter={inDuration}
          yAxisProps={{ width: 64 }}
          dotProps={{ r: 2 }}
          series={[
            { name: 'median_ms', label: 'Median', color: 'blue.6' },
            { name: 'p95_ms', label: '95 of 100', color: 'grape.6' },
          ]}
        />
      </figure>
    </>
  );
}
