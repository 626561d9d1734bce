import { Alert, Button, Group, Loader, SegmentedControl, SimpleGrid, Skeleton, Stack, Text } from '@mantine/core';
import type { WebhookStats } from '@usher/sdk/api-types';
import { Suspense, useState, type ReactElement } from 'react';
import { lazyComponent } from '../../../components/lazy-component.ts';
import { ProblemNote } from '../../../components/problem.tsx';
import { texts } from '../texts.ts';
import { OutcomeTable } from './outcome-table.tsx';
import { spans, sumOf, type SpanName } from './spans.ts';
import { useStats } from './use-stats.ts';
import { formatCount } from '../labels.ts';

/** Charts are large, so they are loaded on demand. */
const Charts = lazyComponent(async () => (await import('./outcome-charts.tsx')).OutcomeCharts);

/** The results and durations of attempts over time, as charts or as a table. */
export function Outcomes({ id }: { readonly id: string }): ReactElement {
  const [span, setSpan] = useState<SpanName>('day');
  const [asTable, setAsTable] = useState(false);
  const { ms, stepSec } = spans[span];
  const read = useStats(id, ms, stepSec);
  const stats = read.data?.data;
  return (
    <Stack>
      <Group justify="space-between">
        <SegmentedControl
          aria-label={texts.period}
          value={span}
          onChange={(value) => setSpan(value as SpanName)}
          data={Object.entries(spans).map(([value, { label }]) => ({ value, label }))}
        />
        <Button variant="default" size="xs" onClick={() => setAsTable(!asTable)} aria-pressed={asTable}>
          {asTable ? texts.showAsCharts : texts.showAsTable}
        </Button>
      </Group>
      <ProblemNote error={read.error} />
      {stats === undefined ? (
        read.isError ? null : (
          <Loader size="sm" aria-label={texts.loading} />
        )
      ) : (
        <>
          <Summary stats={stats} />
          {stats.complete ? null : <Alert color="blue">{texts.newestCountedOnly}</Alert>}
          {asTable ? (
            <OutcomeTable steps={stats.steps} />
          ) : (
            <Suspense fallback={<Skeleton h={480} aria-label={texts.loading} />}>
              <Charts steps={stats.steps} span={span} />
            </Suspense>
          )}
        </>
      )}
    </Stack>
  );
}

function Summary({ stats }: { readonly stats: WebhookStats }): ReactElement {
  const { delivered, failed, given_up: givenUp } = sumOf(stats.steps);
  const { pending, retrying, held } = stats.waiting;
  const numbers = [
    [texts.delivered, delivered.toLocaleString()],
    [texts.failedAttempts, failed.toLocaleString()],
    [texts.failed, givenUp.toLocaleString()],
    [texts.pendingNow, formatCount(pending)],
    [texts.retryingNow, formatCount(retrying)],
    [texts.heldNow, formatCount(held)],
  ] as const;
  return (
    <section aria-label={texts.summary}>
      <SimpleGrid cols={{ base: 2, sm: 3, md: 6 }} spacing="xs" component="dl" m={0}>
        {numbers.map(([name, value]) => (
          <div key={name}>
            <Text size="sm" c="dimmed" component="dt">
              {name}
            </Text>
            <Text size="xl" fw={650} className="tabular" component="dd" m={0}>
              {value}
            </Text>
          </div>
        ))}
      </SimpleGrid>
    </section>
  );
}
