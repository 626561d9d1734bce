import '@mantine/charts/styles.css';
import { BarChart, LineChart } from '@mantine/charts';
import { Title } from '@mantine/core';
import type { WebhookStatsStep } from '@usher/sdk/api-types';
import type { ReactElement } from 'react';
import { axisOf, timeTicks, valueTicks } from '../../../components/time/ticks.ts';
import { formatTime } from '../../../components/time/time.ts';
import { texts } from '../texts.ts';
import classes from './outcome-charts.module.css';
import { spans, sumOf, type SpanName } from './spans.ts';
import { formatMs } from '../labels.ts';

interface Props {
  readonly steps: readonly WebhookStatsStep[];
  readonly span: SpanName;
}

/** The charts, hidden from screen readers; the table has the same numbers. */
export function OutcomeCharts({ steps, span }: Props): ReactElement {
  const data = steps.map((step) => ({ ...step }));
  const { delivered, failed, given_up: givenUp } = sumOf(steps);
  const { everyMin, tick } = spans[span];
  const ticks = timeTicks(
    steps.map(({ at }) => at),
    everyMin,
  );
  const largest = (of: (step: WebhookStatsStep) => number): number => Math.max(0, ...steps.map(of));
  const attempts = valueTicks(largest((step) => step.delivered + step.failed + step.given_up));
  const durations = valueTicks(largest((step) => Math.max(step.median_ms ?? 0, step.p95_ms ?? 0)));
  const common = {
    data,
    dataKey: 'at',
    h: 220,
    withLegend: true,
    tickLine: 'none',
    xAxisProps: {
      ticks,
      interval: 'equidistantPreserveStart',
      tickFormatter: (at: string) => formatTime(at, tick),
    },
    // A tooltip that points at nothing has no label.
    tooltipProps: {
      labelFormatter: (at: unknown) => (typeof at === 'string' && at !== '' ? formatTime(at, 'recent') : ''),
    },
  } as const;
  return (
    <>
      <figure className={classes['figure']} aria-label={texts.attemptsSummary(delivered, failed, givenUp)}>
        <Title order={2} size="h5" mb="xs">
          {texts.attempts}
        </Title>
        <BarChart
          {...common}
          type="stacked"
          yAxisProps={axisOf(attempts)}
          barChartProps={{ accessibilityLayer: false }}
          series={[
            { name: 'delivered', label: texts.delivered, color: 'teal.6' },
            { name: 'failed', label: texts.failedAttempts, color: 'yellow.6' },
            { name: 'given_up', label: texts.failed, color: 'red.7' },
          ]}
        />
      </figure>
      <figure className={classes['figure']} aria-label={texts.attemptDurationMedianAndP95}>
        <Title order={2} size="h5" mb="xs">
          {texts.attemptDuration}
        </Title>
        <LineChart
          {...common}
          curveType="linear"
          connectNulls={false}
          lineChartProps={{ accessibilityLayer: false }}
          valueFormatter={formatMs}
          yAxisProps={{ ...axisOf(durations), width: 64 }}
          dotProps={{ r: 2 }}
          series={[
            { name: 'median_ms', label: texts.median, color: 'blue.6' },
            { name: 'p95_ms', label: texts.p95, color: 'grape.6' },
          ]}
        />
      </figure>
    </>
  );
}
