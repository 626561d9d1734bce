import { until } from './server.ts';
import type { Reached } from './world.ts';

/** A presence interval, as it is stored. */
export interface Kept {
  readonly engaged: boolean;
  readonly available: boolean;
  readonly media: string[];
  readonly reason: string | null;
  readonly site_ids: string[];
  readonly team_ids: (string | null)[];
  readonly started_at: Date;
  readonly ended_at: Date | null;
}

/** The rows themselves; those that lasted no time are left out. */
export async function keptOf({ database }: Reached, id: string): Promise<Kept[]> {
  return database.sql<Kept[]>`
    SELECT engaged, available, media, reason, site_ids, team_ids, started_at, ended_at
      FROM presence_intervals
     WHERE operator_id = ${id} AND ended_at IS DISTINCT FROM started_at
     ORDER BY started_at, id`;
}

/** In short: what the operator did, and whether it goes on. */
export const inShort = ({ engaged, available, media, reason, ended_at }: Kept): string =>
  [engaged ? 'engaged' : available ? media.join('+') : (reason ?? 'away'), ended_at === null ? '…' : ''].join('');

export async function shortOf(reached: Reached, id: string): Promise<string[]> {
  return (await keptOf(reached, id)).map(inShort);
}

/** Intervals that begin within the same millisecond are none: waits until the clock shows another. */
export async function nextInstant(): Promise<void> {
  const now = Date.now();
  await until(() => Date.now() > now + 1);
}
