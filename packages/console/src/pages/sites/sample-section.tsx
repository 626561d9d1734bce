import { Anchor, Button, Group, Paper, Text, Title } from '@mantine/core';
import type { ReactElement } from 'react';
import { Link } from 'wouter';
import { ConfirmButton } from '../../components/editing/confirm-button.tsx';
import { ProblemNote } from '../../components/problem.tsx';
import { useMe } from '../../data/use-me.ts';
import { useSampleData } from '../../data/use-sample-data.ts';
import { texts } from './texts.ts';

const stateTexts = {
  none: texts.sampleDataHelp,
  running: texts.sampleDataRunning,
  stopped: texts.sampleDataPaused,
  removing: texts.deletingSampleData,
} as const;

/** Creates, pauses and deletes the sample data. */
export function SampleSection(): ReactElement | null {
  const isSuperManager = useMe().can('super_manager');
  const { state, siteId, error, change } = useSampleData(isSuperManager);
  if (!isSuperManager || (state === undefined && error === null)) return null;
  return (
    <Paper withBorder p="md" mt="xl" component="section" aria-labelledby="sample-data">
      <Title order={2} size="h4" id="sample-data">
        {texts.sampleData}
      </Title>
      <Text size="sm" my="xs" component="output" display="block">
        {state === undefined ? '' : stateTexts[state]}{' '}
        {siteId === null || state === 'removing' ? null : (
          <Anchor component={Link} href={`/sites/${siteId}`}>
            {texts.openSampleSite}
          </Anchor>
        )}
      </Text>
      <ProblemNote error={error ?? (change.variables === 'remove' ? null : change.error)} />
      <Group gap="xs">
        {state === 'none' ? (
          <Button loading={change.isPending} onClick={() => change.mutate('make')}>
            {texts.createSampleData}
          </Button>
        ) : null}
        {state === 'running' || state === 'stopped' ? (
          <>
            <Button
              variant="default"
              loading={change.isPending && change.variables !== 'remove'}
              onClick={() => change.mutate(state === 'running' ? 'stop' : 'start')}
            >
              {state === 'running' ? texts.pause : texts.resume}
            </Button>
            <ConfirmButton
              label={texts.deleteSampleData}
              question={texts.confirmDeleteSampleData}
              busy={change.isPending}
              error={change.variables === 'remove' ? change.error : null}
              onClose={() => change.reset()}
              onConfirm={(done) => change.mutate('remove', { onSuccess: done })}
            >
              <Text size="sm">{texts.deleteSampleDataHelp}</Text>
            </ConfirmButton>
          </>
        ) : null}
      </Group>
    </Paper>
  );
}
