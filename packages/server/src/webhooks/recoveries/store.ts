import type { WebhookId } from '../../events/attach-webhooks.ts';
import { piece, type Sql } from '../../platform/database.ts';
import { hasCome } from '../../platform/due-time.ts';
import type { AccountId } from '../../platform/ids.ts';
import type { Cursor, SequenceCursor } from '../../platform/paging.ts';
import type { DeliveryId } from '../deliveries/delivery.ts';
import { isStillHeard } from '../deliveries/put-back.ts';
import { earliest } from '../deliveries/store.ts';
import { mostLookedAt, walk, type Walked } from '../deliveries/walk.ts';
import type { RecoveryId, RecoveryRow, TakenRecovery } from './recovery.ts';

const shown = (sql: Sql) => sql`
  id, webhook_id, state, since, until, recovered::float8 AS recovered, created_at, updated_at, finished_at`;

interface NewRecovery {
  readonly id: RecoveryId;
  readonly accountId: AccountId;
  readonly webhookId: WebhookId;
  readonly since: Date;
  readonly until: Date | null;
}

/** `null` where as many are running as may. Exact, as the caller holds the webhook. */
export async function insertRecovery(
  sql: Sql,
  { id, accountId, webhookId, since, until }: NewRecovery,
  mostRunning: number,
): Promise<RecoveryRow | null> {
  const [row] = await sql<RecoveryRow[]>`
    INSERT INTO webhook_recoveries (id, account_id, webhook_id, since, until)
    SELECT ${id}, ${accountId}, ${webhookId}, ${since}, ${until}
     WHERE (SELECT count(*) FROM webhook_recoveries WHERE webhook_id = ${webhookId} AND state = 'running') < ${mostRunning}
    RETURNING ${shown(sql)}`;
  return row ?? null;
}

/** Served by webhook_recoveries_by_webhook. */
export async function listRecoveries(
  sql: Sql,
  webhookId: WebhookId,
  { after, limit }: { readonly after: Cursor | null; readonly limit: number },
): Promise<RecoveryRow[]> {
  return sql<RecoveryRow[]>`
    SELECT ${shown(sql)}
      FROM webhook_recoveries
     WHERE webhook_id = ${webhookId}
       ${after === null ? sql`` : sql`AND (created_at, id) < (${after.at}, ${after.id}::uuid)`}
     ORDER BY created_at DESC, id DESC
     LIMIT ${limit}`;
}

export async function findRecovery(sql: Sql, webhookId: WebhookId, id: RecoveryId): Promise<RecoveryRow | null> {
  const [row] = await sql<RecoveryRow[]>`
    SELECT ${shown(sql)} FROM webhook_recoveries WHERE id = ${id} AND webhook_id = ${webhookId}`;
  return row ?? null;
}

/** Every transaction that was under way when the recovery was asked for has ended. */
const isSettled = piece(
  (sql) => sql`
    coalesce(asked_in < (SELECT log_position(epoch, pg_snapshot_xmin(pg_current_snapshot()))
                           FROM log_epoch_in_force), true)`,
);

/**
 * Takes those that nobody has, or has had for too long. Not before all that could be held for the webhook is committed: a
 * recovery goes by the numbers of the log, and what commits late with a smaller one would stay behind.
 */
export async function takeRecoveries(sql: Sql, room: number, leaseSec: number): Promise<TakenRecovery[]> {
  // Served by webhook_recoveries_running.
  return sql<TakenRecovery[]>`
    UPDATE webhook_recoveries
       SET taken_until = now() + make_interval(secs => ${leaseSec}), epoch = epoch + 1
     WHERE id = ANY(ARRAY(SELECT id
                            FROM webhook_recoveries
                           WHERE state = 'running' AND ${hasCome(sql, sql`taken_until`, leaseSec)} AND ${isSettled(sql)}
                           ORDER BY taken_until
                           LIMIT ${room}
                             FOR UPDATE SKIP LOCKED))
    RETURNING id, account_id AS "accountId", webhook_id AS "webhookId", epoch::float8 AS epoch`;
}

/** Lets another take it up at once. */
export async function returnRecovery(sql: Sql, { id, epoch }: TakenRecovery): Promise<void> {
  await sql`UPDATE webhook_recoveries SET taken_until = now() WHERE id = ${id} AND epoch = ${epoch} AND state = 'running'`;
}

interface Progress {
  readonly since: Date;
  readonly until: Date | null;
  readonly after: SequenceCursor;
}

/** How far it has come, held until the transaction ends; `null`: another has it now, or it has ended. */
export async function holdRecovery(sql: Sql, { id, epoch }: TakenRecovery): Promise<Progress | null> {
  const [row] = await sql<{ since: Date; until: Date | null; seq: number; afterId: string }[]>`
    SELECT since, until, after_seq::float8 AS seq, after_id AS "afterId"
      FROM webhook_recoveries
     WHERE id = ${id} AND epoch = ${epoch} AND state = 'running'
       FOR NO KEY UPDATE`;
  if (row === undefined) return null;
  const { since, until, seq, afterId } = row;
  return { since, until, after: { seq, id: afterId } };
}

/** Moves on behind the batch. The lease is renewed with it. */
export async function moveRecovery(
  sql: Sql,
  { id }: TakenRecovery,
  {
    next,
    recovered,
    leaseSec,
  }: { readonly next: SequenceCursor; readonly recovered: number; readonly leaseSec: number },
): Promise<void> {
  await sql`
    UPDATE webhook_recoveries
       SET after_seq = ${next.seq}, after_id = ${next.id}, recovered = recovered + ${recovered}, updated_at = now(),
           taken_until = now() + make_interval(secs => ${leaseSec})
     WHERE id = ${id}`;
}

export async function endRecovery(
  sql: Sql,
  { id }: TakenRecovery,
  { state, recovered }: { readonly state: 'finished' | 'stopped'; readonly recovered: number },
): Promise<void> {
  await sql`
    UPDATE webhook_recoveries
       SET state = ${state}, recovered = recovered + ${recovered}, updated_at = now(), finished_at = now()
     WHERE id = ${id}`;
}

export interface Missed {
  readonly id: DeliveryId;
  readonly event_seq: number;
  /** When it was given up; `null`: it is held. */
  readonly finished_at: Date | null;
}

/**
 * What the webhook has missed and can still be told of, behind the place, in the order of the log. What happened on a site that it
 * no longer hears of stays as it is.
 */
export async function listMissed(
  sql: Sql,
  webhookId: WebhookId,
  { since, until, after, limit }: Progress & { readonly limit: number },
): Promise<Walked<Missed>> {
  const told = () => sql`event_seq, account_id, webhook_id, event_xid, occurred_at, state, body`;
  // Served by deliveries_set_aside.
  const setAside = () => sql`
    SELECT id, NULL::timestamptz AS finished_at, ${told()}
      FROM deliveries
     WHERE webhook_id = ${webhookId} AND (state <> 'pending' OR due_at IS NOT NULL)
       AND (event_seq, id) > (${after.seq}::bigint, ${after.id}::uuid)
     ORDER BY event_seq, id
     LIMIT ${mostLookedAt}`;
  // Served by delivery_log_failed.
  const failed = () => sql`
    SELECT delivery_id AS id, at AS finished_at, ${told()}
      FROM delivery_log
     WHERE webhook_id = ${webhookId} AND final AND state <> 'delivered' AND at >= ${earliest(since)}
       AND (event_seq, delivery_id) > (${after.seq}::bigint, ${after.id}::uuid)
     ORDER BY event_seq, delivery_id
     LIMIT ${mostLookedAt}`;
  const wanted = sql`
    state IN ('held', 'exhausted') AND occurred_at >= ${since}
       AND (${until}::timestamptz IS NULL OR occurred_at < ${until}) AND ${isStillHeard(sql)}`;
  const sources = [setAside, failed].map((looked) => ({ looked, wanted }));
  return walk<Missed>(sql, { sources, columns: ['finished_at'], direction: 'up', limit });
}
