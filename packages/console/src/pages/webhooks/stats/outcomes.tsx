import { Alert, Button, Group, Loader, SegmentedControl, SimpleGrid, Skeleton, Stack, Text } from '@mantine/core';
import type { WebhookStats } from '@usher/client/api-types';
import { Suspense, useState, type ReactElement } from 'react';
import { lazily } from '../../../components/lazily.ts';
import { ProblemNote } from '../../../components/problem.tsx';
import { OutcomeTable } from './outcome-table.tsx';
import { spans, sumOf, type SpanName } from './spans.ts';
import { useStats } from './use-stats.ts';
import { inCount } from '../words.ts';

/** Charts are large, and loaded once they are looked at. */
const Charts = lazily(async () => (await import('./outcome-charts.tsx')).OutcomeCharts);

/** What became of the attempts, and how long they took, over time: drawn, and as a table. */
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
          aria-label="Time shown"
          value={span}
          onChange={(value) => setSpan(value as SpanName)}
          data={Object.entries(spans).map(([value, { label }]) => ({ value, label }))}
        />
        <Button variant="default" size="xs" onClick={() => setAsTable(!asTable)} aria-pressed={asTable}>
          {asTable ? 'Show as charts' : 'Show as a table'}
        </Button>
      </Group>
      <ProblemNote error={read.error} />
      {stats === undefined ? (
        read.isError ? null : (
          <Loader size="sm" aria-label="Loading" />
        )
      ) : (
        <>
          <Summary stats={stats} />
          {stats.complete ? null : (
            <Alert color="blue">There were so many that only those of the newest events are counted.</Alert>
          )}
          {asTable ? (
            <OutcomeTable steps={stats.steps} />
          ) : (
            <Suspense fallback={<Skeleton h={480} aria-label="Loading" />}>
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
    ['Delivered', delivered.toLocaleString()],
    ['Failed attempts', failed.toLocaleString()],
    ['Failed', givenUp.toLocaleString()],
    ['Pending now', inCount(pending)],
    ['Retrying now', inCount(retrying)],
    ['Held now', inCount(held)],
  ] as const;
  return (
    <section aria-label="Summary">
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
