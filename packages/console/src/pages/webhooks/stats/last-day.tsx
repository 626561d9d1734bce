import { Text } from '@mantine/core';
import type { WebhookWaiting } from '@usher/sdk/api-types';
import type { ReactElement } from 'react';
import { RichText } from '../../../components/rich-text.tsx';
import { Timestamp } from '../../../components/time/timestamp.tsx';
import { texts } from '../texts.ts';
import { sumOf } from './spans.ts';
import { useStats } from './use-stats.ts';
import { formatCount } from '../labels.ts';

const daySec = 86_400;

/** The deliveries of a webhook in the last 24 hours, in two lines. */
export function LastDay({ id }: { readonly id: string }): ReactElement {
  const read = useStats(id, daySec * 1_000, daySec);
  if (read.data === undefined)
    return (
      <Text size="sm" c="dimmed">
        {read.isError ? texts.couldNotLoad : '…'}
      </Text>
    );
  const { steps, waiting, last_attempt: last } = read.data.data;
  const { delivered, failed, given_up: givenUp } = sumOf(steps);
  return (
    <>
      <Text size="sm" className="tabular">
        {texts.deliveredFailed(delivered.toLocaleString(), (failed + givenUp).toLocaleString())}
        {describeWaiting(waiting)}
      </Text>
      <Text size="sm" c="dimmed">
        {last === null ? (
          texts.noAttempts
        ) : (
          <RichText
            text={last.status === null ? texts.lastWithoutResponse : texts.lastWithStatus}
            values={{ status: last.status, time: <Timestamp format="recent" at={last.at} /> }}
          />
        )}
      </Text>
    </>
  );
}

function describeWaiting({ pending, retrying, held }: WebhookWaiting): string {
  const counts = [
    [pending, texts.countPending],
    [retrying, texts.countRetrying],
    [held, texts.countHeld],
  ] as const;
  return counts
    .filter(([count]) => count > 0)
    .map(([count, text]) => `, ${text(formatCount(count))}`)
    .join('');
}
