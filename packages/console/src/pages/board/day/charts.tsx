import '@mantine/charts/styles.css';
import { BarChart, LineChart } from '@mantine/charts';
import { SimpleGrid, Title } from '@mantine/core';
import type { ReactElement, ReactNode } from 'react';
import type { Step } from './day.ts';
import classes from './day.module.css';

const height = 190;
const noMotion = { isAnimationActive: false };
/** People are counted, not measured. */
const whole = { allowDecimals: false };
const common = { h: height, dataKey: 'time', withLegend: true };

/** Four views of the day. What they show is in the table below them, for those who do not see them. */
export function Charts({
  steps,
  levelSec,
}: {
  readonly steps: readonly Step[];
  readonly levelSec: number;
}): ReactElement {
  const data = steps.map((step) => ({ ...step }));
  return (
    <SimpleGrid cols={{ base: 1, lg: 2 }} spacing="lg" mb="md">
      <Chart title="Arrivals, and who was engaged">
        <BarChart
          {...common}
          data={data}
          yAxisProps={whole}
          barProps={noMotion}
          series={[
            { name: 'arrivals', label: 'Arrivals', color: 'var(--day-one)' },
            { name: 'engaged', label: 'Engaged', color: 'var(--day-two)' },
          ]}
        />
      </Chart>
      <Chart title="Waits of those engaged, minutes">
        <LineChart
          {...common}
          data={data}
          lineProps={noMotion}
          curveType="linear"
          connectNulls={false}
          series={[
            { name: 'averageWaitMin', label: 'Average', color: 'var(--day-one)' },
            { name: 'longestWaitMin', label: 'Longest', color: 'var(--day-three)', strokeDasharray: '5 3' },
          ]}
        />
      </Chart>
      <Chart title="Abandonment">
        <BarChart
          {...common}
          data={data}
          type="stacked"
          yAxisProps={whole}
          barProps={noMotion}
          series={[
            { name: 'abandoned', label: 'Left by themselves', color: 'var(--day-three)' },
            { name: 'sentAway', label: 'Sent away', color: 'var(--day-four)' },
          ]}
        />
      </Chart>
      <Chart title={`Service level: engaged within ${levelSec} s, %`}>
        <LineChart
          {...common}
          data={data}
          lineProps={noMotion}
          curveType="linear"
          connectNulls={false}
          yAxisProps={{ domain: [0, 100] }}
          series={[{ name: 'withinPercent', label: 'Of those engaged or abandoned', color: 'var(--day-two)' }]}
        />
      </Chart>
    </SimpleGrid>
  );
}

function Chart({ title, children }: { readonly title: string; readonly children: ReactNode }): ReactElement {
  return (
    <section className={classes['chart']}>
      <Title order={2} size="h6" mb={4}>
        {title}
      </Title>
      <div aria-hidden inert>
        {children}
      </div>
    </section>
  );
}
