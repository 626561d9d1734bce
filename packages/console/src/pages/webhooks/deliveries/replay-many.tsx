import { Alert, Button, Group, List, Progress, Stack, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import type { Webhook } from '@usher/sdk/api-types';
import { useState, type ReactElement } from 'react';
import { describeError } from '../../../components/describe-error.ts';
import { useSession } from '../../../session/use-session.ts';
import { texts } from '../texts.ts';
import { maxReplayed, replayAll, type ReplayProgress } from './replay-all.ts';

/** The number of refusals shown. */
const maxShownErrors = 5;

interface Props {
  readonly webhook: Webhook;
  readonly chosen: ReadonlySet<string>;
  readonly onClear: () => void;
}

/** Replays the selected deliveries, with progress and refusals. */
export function ReplayMany({ webhook, chosen, onClear }: Props): ReactElement | null {
  const { api } = useSession();
  const client = useQueryClient();
  const [progress, setProgress] = useState<ReplayProgress | null>(null);
  const running = progress !== null && progress.done < progress.total;
  const replay = async (ids: readonly string[]): Promise<void> => {
    await replayAll(
      ids,
      async (id) => api.call('POST /deliveries/{delivery_id}/replay', { path: { delivery_id: id }, body: {} }),
      setProgress,
    );
    onClear();
    await client.invalidateQueries({ queryKey: ['GET /webhooks/{webhook_id}/deliveries'] });
  };
  if (chosen.size === 0 && progress === null) return null;
  return (
    <Stack gap="xs" mb="sm">
      {chosen.size === 0 || running ? null : (
        <Group gap="xs">
          <Text size="sm">
            {chosen.size >= maxReplayed
              ? texts.maxDeliveriesSelected(chosen.size)
              : texts.deliveriesSelected(chosen.size)}
          </Text>
          <Button size="xs" disabled={!webhook.enabled} onClick={() => void replay([...chosen])}>
            {texts.replaySelected}
          </Button>
          <Button size="xs" variant="default" onClick={onClear}>
            {texts.clearSelection}
          </Button>
        </Group>
      )}
      {progress === null ? null : (
        <Outcome
          progress={progress}
          running={running}
          onAgain={() => void replay(progress.failures.map(({ id }) => id))}
          onClose={() => setProgress(null)}
        />
      )}
    </Stack>
  );
}

interface OutcomeProps {
  readonly progress: ReplayProgress;
  readonly running: boolean;
  readonly onAgain: () => void;
  readonly onClose: () => void;
}

function Outcome({ progress, running, onAgain, onClose }: OutcomeProps): ReactElement {
  const { total, done, failures } = progress;
  const errors = [...Map.groupBy(failures, ({ error }) => describeError(error))].slice(0, maxShownErrors);
  const replayedCount = done - failures.length;
  return (
    <Alert
      color={failures.length > 0 ? 'orange' : 'blue'}
      withCloseButton={!running}
      closeButtonLabel={texts.close}
      onClose={onClose}
    >
      <Text size="sm" component="output" display="block">
        {running ? texts.replaying(done, total) : texts.deliveriesReplayed(replayedCount)}
      </Text>
      {running ? <Progress value={(100 * done) / total} mt={6} aria-label={texts.replayed} /> : null}
      {failures.length === 0 ? null : (
        <>
          <Text size="sm" mt={6}>
            {texts.deliveriesFailed(failures.length)}
          </Text>
          <List size="sm">
            {errors.map(([reason, failed]) => (
              <List.Item key={reason} className="user-text">
                {reason} ({failed.length})
              </List.Item>
            ))}
          </List>
          {running ? null : (
            <Button size="compact-sm" variant="default" mt={6} onClick={onAgain}>
              {texts.retryFailed}
            </Button>
          )}
        </>
      )}
    </Alert>
  );
}
