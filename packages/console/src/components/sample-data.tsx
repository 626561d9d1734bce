import { Button, Group, Paper, Text, Title } from '@mantine/core';
import type { ReactElement } from 'react';
import { useRead } from '../data/use-api.ts';
import { useMe } from '../data/use-me.ts';
import { useSampleData } from '../data/use-sample-data.ts';
import { ProblemNote } from './problem.tsx';
import { texts } from './texts.ts';

/** Offers sample data to new accounts; hidden once there is a queue or sample data. */
export function SampleDataOffer(): ReactElement | null {
  const me = useMe();
  const managedIds = me.sites.map(({ id }) => id).filter((id) => me.can('super_manager', id));
  const isSuperManager = managedIds.length > 0;
  const queues = useRead('GET /queues', { query: { site_ids: managedIds, per_page: 1 } }, { enabled: isSuperManager });
  const isEmpty = queues.data?.data.queues.length === 0;
  const { state, change } = useSampleData(isSuperManager && isEmpty);
  if (!isEmpty || state !== 'none') return null;
  return (
    <Paper withBorder p="md" mb="md" component="section" aria-labelledby="sample-data-offer">
      <Title order={2} size="h4" id="sample-data-offer">
        {texts.tryWithSampleData}
      </Title>
      <Text size="sm" my="xs" maw={640}>
        {texts.sampleDataHelp}
      </Text>
      <ProblemNote error={change.error} />
      <Group>
        <Button loading={change.isPending} onClick={() => change.mutate('make')}>
          {texts.tryWithSampleData}
        </Button>
      </Group>
    </Paper>
  );
}
