import '@mantine/charts/styles.css';
import { BarChart, LineChart } from '@mantine/charts';
import { SimpleGrid, Title } from '@mantine/core';
import type { ReactElement, ReactNode } from 'react';
import { formatClock } from '../../../components/time/duration.ts';
import { axisOf, durationTicks, timeTicks, valueTicks } from '../../../components/time/ticks.ts';
import { formatTime } from '../../../components/time/time.ts';
import { texts } from '../texts.ts';
import type { Step } from './day.ts';
import classes from './day.module.css';

const height = 190;
const noMotion = { isAnimationActive: false };
const common = { h: height, dataKey: 'at', withLegend: true };
/** Minutes between two ticks. Where space is short, the chart drops every second or third tick. */
const everyMin = 180;

/** Four charts of the day. They are hidden from screen readers, which read the table below instead. */
export function Charts({
  steps,
  levelSec,
}: {
  readonly steps: readonly Step[];
  readonly levelSec: number;
}): ReactElement {
  const data = steps.map((step) => ({ ...step }));
  const largest = (of: (step: Step) => number): number => Math.max(0, ...steps.map(of));
  const xAxisProps = {
    ticks: timeTicks(
      steps.map(({ at }) => at),
      everyMin,
    ),
    interval: 'equidistantPreserveStart',
    tickFormatter: (at: string) => formatTime(at, 'time'),
  } as const;
  const visitors = valueTicks(largest(({ arrivals, engaged }) => Math.max(arrivals ?? 0, engaged ?? 0)));
  const lost = valueTicks(largest(({ abandoned, turnedAway }) => (abandoned ?? 0) + (turnedAway ?? 0)));
  const waits = durationTicks(
    largest(({ averageWaitSec, longestWaitSec }) => Math.max(averageWaitSec ?? 0, longestWaitSec ?? 0)),
  );
  return (
    <SimpleGrid cols={{ base: 1, lg: 2 }} spacing="lg" mb="md">
      <Chart title={texts.offeredAndAnswered}>
        <BarChart
          {...common}
          xAxisProps={xAxisProps}
          data={data}
          yAxisProps={axisOf(visitors)}
          barProps={noMotion}
          series={[
            { name: 'arrivals', label: texts.offered, color: 'var(--day-one)' },
            { name: 'engaged', label: texts.answered, color: 'var(--day-two)' },
          ]}
        />
      </Chart>
      <Chart title={texts.waitTime}>
        <LineChart
          {...common}
          xAxisProps={xAxisProps}
          data={data}
          lineProps={noMotion}
          curveType="linear"
          connectNulls={false}
          yAxisProps={axisOf(waits)}
          valueFormatter={formatClock}
          series={[
            { name: 'averageWaitSec', label: texts.average, color: 'var(--day-one)' },
            { name: 'longestWaitSec', label: texts.longest, color: 'var(--day-three)', strokeDasharray: '5 3' },
          ]}
        />
      </Chart>
      <Chart title={texts.abandonment}>
        <BarChart
          {...common}
          xAxisProps={xAxisProps}
          data={data}
          type="stacked"
          yAxisProps={axisOf(lost)}
          barProps={noMotion}
          series={[
            { name: 'abandoned', label: texts.abandoned, color: 'var(--day-three)' },
            { name: 'sentAway', label: texts.turnedAway, color: 'var(--day-four)' },
          ]}
        />
      </Chart>
      <Chart title={texts.answeredWithin(levelSec)}>
        <LineChart
          {...common}
          xAxisProps={xAxisProps}
          data={data}
          lineProps={noMotion}
          curveType="linear"
          connectNulls={false}
          yAxisProps={axisOf([0, 25, 50, 75, 100])}
          valueFormatter={(value) => `${value} %`}
          series={[{ name: 'withinPercent', label: texts.shareAnsweredInTime, color: 'var(--day-two)' }]}
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
