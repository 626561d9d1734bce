import { Text } from '@mantine/core';
import type { WebhookWaiting } from '@usher/client/api-types';
import type { ReactElement } from 'react';
import { At } from '../../../components/at.tsx';
import { sumOf } from './spans.ts';
import { useStats } from './use-stats.ts';
import { inCount } from '../words.ts';

const daySec = 86_400;

/** How a webhook fares, in two lines. */
export function LastDay({ id }: { readonly id: string }): ReactElement {
  const read = useStats(id, daySec * 1_000, daySec);
  if (read.data === undefined)
    return (
      <Text size="sm" c="dimmed">
        {read.isError ? 'could not be read' : '…'}
      </Text>
    );
  const { steps, waiting, last_attempt: last } = read.data.data;
  const { delivered, failed, given_up: givenUp } = sumOf(steps);
  return (
    <>
      <Text size="sm" className="tabular">
        {delivered.toLocaleString()} delivered, {(failed + givenUp).toLocaleString()} failed
        {waitingInWords(waiting)}
      </Text>
      <Text size="sm" c="dimmed">
        {last === null ? (
          'nothing was sent'
        ) : (
          <>
            last {last.status === null ? 'without an answer' : `answered ${last.status}`} at{' '}
            <At format="recent" at={last.at} />
          </>
        )}
      </Text>
    </>
  );
}

function waitingInWords({ pending, retrying, held }: WebhookWaiting): string {
  const parts = [
    [pending, 'pending'],
    [retrying, 'retrying'],
    [held, 'held'],
  ] as const;
  const said = parts.filter(([count]) => count > 0).map(([count, word]) => `${inCount(count)} ${word}`);
  return said.length === 0 ? '' : `; ${said.join(', ')}`;
}
