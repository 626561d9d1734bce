import type { Answered } from '@usher/client/api';
import type { UseQueryResult } from '@tanstack/react-query';
import { useNow } from '../../../components/since.tsx';
import { useRead } from '../../../data/use-api.ts';
import { spanUntil } from './spans.ts';

type Stats = Answered<'GET /webhooks/{webhook_id}/stats'>;

/** Attempts show by themselves within this time. */
const everyMs = 5_000;
/** A week of a busy webhook takes the database a while. */
const longerMs = 30_000;
const longMs = 2 * 86_400_000;
const minuteMs = 60_000;

/** How a webhook has fared up to now, in steps of so many seconds. */
export function useStats(id: string, ms: number, stepSec: number): UseQueryResult<Stats> {
  // One that is a single step still ends with the present minute.
  const stepMs = stepSec * 1_000 >= ms ? minuteMs : stepSec * 1_000;
  const query = { ...spanUntil(useNow(), ms, stepMs), interval: stepSec };
  return useRead(
    'GET /webhooks/{webhook_id}/stats',
    { path: { webhook_id: id }, query },
    { keep: true, refetchInterval: ms > longMs ? longerMs : everyMs },
  );
}
