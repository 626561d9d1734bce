import type { Answered } from '@usher/client/api';
import type { UseQueryResult } from '@tanstack/react-query';
import { useNow } from '../../../components/time/elapsed-time.tsx';
import { useRead } from '../../../data/use-api.ts';
import { spanUntil } from './spans.ts';

type Stats = Answered<'GET /webhooks/{webhook_id}/stats'>;

/** Poll interval: new attempts appear within this time. */
const pollMs = 5_000;
/** A week of a busy webhook is an expensive query. */
const longPeriodPollMs = 30_000;
const longPeriodMs = 2 * 86_400_000;
const minuteMs = 60_000;

/** The delivery statistics of a webhook up to now, in intervals of `stepSec`. */
export function useStats(id: string, ms: number, stepSec: number): UseQueryResult<Stats> {
  // A single interval ends with the current minute.
  const stepMs = stepSec * 1_000 >= ms ? minuteMs : stepSec * 1_000;
  const query = { ...spanUntil(useNow(), ms, stepMs), interval: stepSec };
  return useRead(
    'GET /webhooks/{webhook_id}/stats',
    { path: { webhook_id: id }, query },
    { keep: true, refetchInterval: ms > longPeriodMs ? longPeriodPollMs : pollMs },
  );
}
