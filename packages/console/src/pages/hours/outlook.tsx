import { Badge, Button, Group, Paper, Text, Title } from '@mantine/core';
import { useQueryClient, type UseQueryResult } from '@tanstack/react-query';
import type { HoursOutlook } from '@usher/sdk/api-types';
import { useEffect, type ReactElement } from 'react';
import { hasOnlyFieldErrors } from '../../components/faults.ts';
import { ProblemNote } from '../../components/problem.tsx';
import { useNow } from '../../components/time/elapsed-time.tsx';
import { zoneNote } from '../../components/time/time.ts';
import { formatDuration } from '../../components/time/duration.ts';
import { Strip } from './strip-view.tsx';
import { zoneFormat } from './strip.ts';
import { texts } from './texts.ts';

const dayMs = 86_400_000;

interface Props {
  readonly preview: UseQueryResult<HoursOutlook>;
  readonly timezone: string;
  /** `null`: starts now. */
  readonly from: string | null;
  readonly onFrom: (from: string | null) => void;
}

/** The opening hours of the next 14 days, and whether it is open now. */
export function Outlook({ preview, timezone, from, onFrom }: Props): ReactElement {
  const { data } = preview;
  const shift = (days: number): void =>
    onFrom(new Date((from === null ? Date.now() : Date.parse(from)) + days * dayMs).toISOString());
  const change = data?.next_clock_change_at ?? null;
  const isChangeShown = data !== undefined && data.clock_changes.length > 0;
  return (
    <Paper withBorder p="md" component="section" aria-label={texts.next14Days}>
      <Group justify="space-between" mb="xs">
        <Title order={2} size="h4">
          {texts.next14Days}
        </Title>
        <Group gap={4}>
          <Button size="compact-xs" variant="default" onClick={() => shift(-14)}>
            {texts.earlier}
          </Button>
          <Button size="compact-xs" variant="default" disabled={from === null} onClick={() => onFrom(null)}>
            {texts.today}
          </Button>
          <Button size="compact-xs" variant="default" onClick={() => shift(14)}>
            {texts.later}
          </Button>
        </Group>
      </Group>
      {preview.isError ? (
        hasOnlyFieldErrors(preview.error) ? (
          <Text size="sm" mb="xs">
            {texts.fixErrorsToSeePreview}
          </Text>
        ) : (
          <ProblemNote error={preview.error} />
        )
      ) : null}
      {data === undefined ? null : (
        <div style={{ opacity: preview.isError ? 0.4 : 1 }}>
          <Now outlook={data} timezone={timezone} />
          <Strip outlook={data} timezone={timezone} />
          {change === null || isChangeShown ? null : (
            <Group gap="xs" mt="xs">
              <Text size="xs">
                {texts.dstChangeOn(zoneFormat(timezone, { dateStyle: 'medium' }).format(new Date(change)))}
              </Text>
              <Button
                size="compact-xs"
                variant="default"
                aria-label={texts.viewDstChange}
                onClick={() => onFrom(new Date(Date.parse(change) - 3 * dayMs).toISOString())}
              >
                {texts.view}
              </Button>
            </Group>
          )}
        </div>
      )}
    </Paper>
  );
}

function Now({ outlook, timezone }: { readonly outlook: HoursOutlook; readonly timezone: string }): ReactElement {
  const now = useNow();
  const client = useQueryClient();
  const { open, next_change_at: next } = outlook;
  const at = next === null ? null : Date.parse(next);
  const isPast = at !== null && now >= at;
  useEffect(() => {
    if (isPast) void client.invalidateQueries({ queryKey: ['POST /queues/scheduling_policies/preview'] });
  }, [client, isPast]);
  const format = zoneFormat(timezone, {
    weekday: 'short',
    day: 'numeric',
    month: 'short',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  });
  return (
    <Group gap="xs" mb="xs">
      <Badge color={open ? 'green' : 'gray'} variant="light" tt="none">
        {open ? texts.openNow : texts.closedNow}
      </Badge>
      <Text size="sm">
        {at === null
          ? open
            ? texts.noScheduledClose
            : texts.noScheduledOpening
          : (open ? texts.closesAt : texts.opensAt)(
              `${format.format(at)}${zoneNote(timezone)}`,
              formatDuration(Math.max(60, Math.ceil((at - now) / 60_000) * 60)),
            )}
      </Text>
    </Group>
  );
}
