import { until } from '../server.ts';
import type { ServerHandle } from '../world.ts';

/** A presence interval as stored. */
export interface StoredInterval {
  readonly engaged: boolean;
  readonly available: boolean;
  readonly media: string[];
  readonly reason: string | null;
  readonly site_ids: string[];
  readonly team_ids: (string | null)[];
  readonly started_at: Date;
  readonly ended_at: Date | null;
}

/** The stored intervals of an operator, without empty ones. */
export async function intervalsOf({ database }: ServerHandle, id: string): Promise<StoredInterval[]> {
  return database.sql<StoredInterval[]>`
    SELECT engaged, available, media, reason, site_ids, team_ids, started_at, ended_at
      FROM presence_intervals
     WHERE operator_id = ${id} AND ended_at IS DISTINCT FROM started_at
     ORDER BY started_at, id`;
}

/** The state of the operator, with `…` while the interval goes on. */
export const summarize = ({ engaged, available, media, reason, ended_at }: StoredInterval): string =>
  [engaged ? 'engaged' : available ? media.join('+') : (reason ?? 'away'), ended_at === null ? '…' : ''].join('');

export async function intervalSummaries(reached: ServerHandle, id: string): Promise<string[]> {
  return (await intervalsOf(reached, id)).map(summarize);
}

/** Waits for the next millisecond: an interval that ends in the millisecond of its start is not stored. */
export async function nextInstant(): Promise<void> {
  const now = Date.now();
  await until(() => Date.now() > now + 1);
}
