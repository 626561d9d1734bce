import { Anchor, Button, Group, Paper, Text, Title } from '@mantine/core';
import type { ReactElement } from 'react';
import { Link } from 'wouter';
import { AskFirst } from '../../components/ask-first.tsx';
import { ProblemNote } from '../../components/problem.tsx';
import { useMe } from '../../data/use-me.ts';
import { useSampleData } from '../../data/use-sample-data.ts';

const words = {
  none: 'A small shop where visitors come and are served by themselves, to see every page at work. It is a site of its own.',
  running: 'Visitors come to the sample shop, and its made-up operators serve them.',
  stopped: 'Nothing happens in the sample shop. What has happened is still there.',
  removing: 'The sample shop is being removed. This takes a moment.',
} as const;

/** Made, stopped and removed here. */
export function SampleSection(): ReactElement | null {
  const may = useMe().can('super_manager');
  const { state, siteId, error, change } = useSampleData(may);
  if (!may || (state === undefined && error === null)) return null;
  return (
    <Paper withBorder p="md" mt="xl" component="section" aria-labelledby="sample-data">
      <Title order={2} size="h4" id="sample-data">
        Sample data
      </Title>
      <Text size="sm" my="xs" component="output" display="block">
        {state === undefined ? '' : words[state]}{' '}
        {siteId === null || state === 'removing' ? null : (
          <Anchor component={Link} href={`/sites/${siteId}`}>
            Its site
          </Anchor>
        )}
      </Text>
      <ProblemNote error={error ?? (change.variables === 'remove' ? null : change.error)} />
      <Group gap="xs">
        {state === 'none' ? (
          <Button loading={change.isPending} onClick={() => change.mutate('make')}>
            Make sample data
          </Button>
        ) : null}
        {state === 'running' || state === 'stopped' ? (
          <>
            <Button
              variant="default"
              loading={change.isPending && change.variables !== 'remove'}
              onClick={() => change.mutate(state === 'running' ? 'stop' : 'start')}
            >
              {state === 'running' ? 'Stop it' : 'Start it'}
            </Button>
            <AskFirst
              label="Remove it"
              question="Remove the sample data?"
              keep="Keep it"
              busy={change.isPending}
              error={change.variables === 'remove' ? change.error : null}
              onClose={() => change.reset()}
              onYes={(done) => change.mutate('remove', { onSuccess: done })}
            >
              <Text size="sm">
                The sample site goes, with its queues, made-up operators and all that has happened there. What you have
                made yourself elsewhere stays; what you have added to the sample site goes with it.
              </Text>
            </AskFirst>
          </>
        ) : null}
      </Group>
    </Paper>
  );
}
