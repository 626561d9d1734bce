import { Badge, Group, Paper, Stack, Text, Title } from '@mantine/core';
import { useThrottledCallback } from '@mantine/hooks';
import type { QueuePreview } from '@usher/sdk/api-types';
import { useQueryClient, type UseQueryResult } from '@tanstack/react-query';
import { Fragment, type ReactElement, type ReactNode } from 'react';
import { hasOnlyFieldErrors } from '../../components/faults.ts';
import { ProblemNote } from '../../components/problem.tsx';
import { describeQueue, isOpen, statusNames } from '../../components/queue-status.ts';
import { formatTime } from '../../components/time/time.ts';
import { useFeedItems } from '../../live/use-live-feed.ts';
import type { QueueDraft } from './draft.ts';
import { StatusBadge } from './status-badge.tsx';
import { texts } from './texts.ts';
import type { Queue } from './use-queues.ts';
import classes from './queues.module.css';

/** Throttle: the preview is refreshed at most this often. */
const refreshMs = 2_000;

interface Props {
  readonly preview: UseQueryResult<QueuePreview>;
  readonly draft: QueueDraft;
  readonly queue: Queue | null;
  readonly isChanged: boolean;
}

/** The state the queue would have now if it were saved. */
export function Effect({ preview, draft, queue, isChanged }: Props): ReactElement {
  const client = useQueryClient();
  const refresh = useThrottledCallback(() => {
    void client.invalidateQueries({ queryKey: ['POST /queues/preview'] });
    if (queue !== null) void client.invalidateQueries({ queryKey: ['GET /queues/{queue_id}', { queue_id: queue.id }] });
  }, refreshMs);
  useFeedItems(['queue.state', 'operator.state'], refresh);
  const { data } = preview;
  return (
    <Paper withBorder p="md" className={classes['effect']} component="section" aria-label={texts.effect}>
      <Title order={2} size="h4" mb="sm">
        {isChanged ? texts.preview : texts.now}
      </Title>
      {data === undefined ? (
        <CurrentStatus queue={queue} error={preview.error} />
      ) : (
        <Stack gap="sm" opacity={preview.isError ? 0.5 : 1} aria-live="polite">
          {preview.isError && !hasOnlyFieldErrors(preview.error) ? <ProblemNote error={preview.error} /> : null}
          <Fact name={texts.status}>
            <StatusBadge queue={data} />
            <Text size="sm" mt={4} className="user-text">
              {describeQueue({ ...data, staffed: data.staff > 0 }, data.fallback_path.find(isOpen)?.name ?? null)}
            </Text>
          </Fact>
          <Fact name={texts.capacity}>
            <Text size="sm" className="tabular">
              {describeCapacity(draft, data)}
            </Text>
          </Fact>
          <Fact name={texts.operatorsOnline}>
            <Text size="sm" className="tabular">
              {data.staff === 0 ? texts.none : data.staff}
            </Text>
          </Fact>
          <Fact name={texts.hours}>
            <Text size="sm">{describeHours(draft, data)}</Text>
          </Fact>
          <Fact name={texts.availableChannels}>
            <Text size="sm">
              {data.available_properties.media.length === 0
                ? texts.noneAvailable
                : data.available_properties.media.join(', ')}
            </Text>
          </Fact>
          <Fact name={texts.fallback}>
            <Chain name={draft.name === '' ? texts.thisQueue : draft.name} data={data} />
          </Fact>
        </Stack>
      )}
    </Paper>
  );
}

/** For readers who cannot change the queue, and until the first preview arrives. */
function CurrentStatus({ queue, error }: { readonly queue: Queue | null; readonly error: unknown }): ReactElement {
  if (queue === null)
    return hasOnlyFieldErrors(error) ? (
      <Text size="sm">{texts.completeToPreview}</Text>
    ) : error === null ? (
      <Text size="sm">{texts.loadingProgress}</Text>
    ) : (
      <ProblemNote error={error} />
    );
  return (
    <Fact name={texts.status}>
      <StatusBadge queue={queue} />
      <Text size="sm" mt={4}>
        {describeQueue(queue, null)}
      </Text>
    </Fact>
  );
}

function Fact({ name, children }: { readonly name: string; readonly children: ReactNode }): ReactElement {
  return (
    <div>
      <Text size="xs" c="dimmed">
        {name}
      </Text>
      {children}
    </div>
  );
}

function describeCapacity(
  { capacity_policy: { type, multiplier } }: QueueDraft,
  { capacity, staff }: QueuePreview,
): string {
  return type === 'fixed' ? texts.visitors(capacity) : texts.visitorsByStaff(multiplier, staff, capacity);
}

function describeHours({ scheduling_policy_id }: QueueDraft, { within_hours, hours_change_at }: QueuePreview): string {
  if (scheduling_policy_id === null) return texts.alwaysOpen;
  const time = hours_change_at === null ? undefined : formatTime(hours_change_at, 'soon');
  if (time === undefined) return within_hours ? texts.openNoScheduledClose : texts.closedNoScheduledOpening;
  return within_hours ? texts.openUntil(time) : texts.closedUntil(time);
}

/** The chain of fallbacks, starting with this queue. */
function Chain({ name, data }: { readonly name: string; readonly data: QueuePreview }): ReactElement {
  if (data.fallback_path.length === 0) return <Text size="sm">{texts.noFallback}</Text>;
  const loop = data.violations.some(({ attribute }) => attribute === '/fallback_queue_id');
  return (
    <Group gap={6} component="ol" className={classes['chain']} aria-label={texts.fallbackChain}>
      <li>
        <Badge variant="filled" tt="none" maw={220} title={name}>
          {name}
        </Badge>
      </li>
      {data.fallback_path.map((link) => (
        <Fragment key={link.id}>
          <li className={classes['arrow']} aria-hidden>
            →
          </li>
          <li>
            <Badge
              variant={isOpen(link) ? 'light' : 'default'}
              color={loop ? 'red' : 'green'}
              tt="none"
              maw={220}
              title={link.name ?? texts.queueOnAnotherSite}
            >
              {link.name ?? texts.onAnotherSite} · {statusNames[link.self_status]}
            </Badge>
          </li>
        </Fragment>
      ))}
    </Group>
  );
}
