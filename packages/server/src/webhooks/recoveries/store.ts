import type { WebhookId } from '../../events/subscriptions/attach-webhooks.ts';
import { fragment, type Sql } from '../../platform/database/database.ts';
import { isNotMoving } from '../../identity/moving.ts';
import { hasCome } from '../../platform/clock/due-time.ts';
import type { AccountId } from '../../platform/ids.ts';
import type { Cursor, SequenceCursor } from '../../platform/http/paging.ts';
import type { DeliveryId } from '../deliveries/delivery.ts';
import { isStillCovered } from '../deliveries/requeue.ts';
import { earliest } from '../deliveries/store.ts';
import { maxScanned, walk, type WalkResult } from '../deliveries/walk.ts';
import type { RecoveryId, RecoveryRow, ClaimedRecovery } from './recovery.ts';

const shown = (sql: Sql) => sql`
  id, webhook_id, state, since, until, recovered::float8 AS recovered, created_at, updated_at, finished_at`;

interface NewRecovery {
  readonly id: RecoveryId;
  readonly accountId: AccountId;
  readonly webhookId: WebhookId;
  readonly since: Date;
  readonly until: Date | null;
}

/** `null`: the limit is reached. The limit is exact, because the caller has locked the webhook. */
export async function insertRecovery(
  sql: Sql,
  { id, accountId, webhookId, since, until }: NewRecovery,
  maxRunning: number,
): Promise<RecoveryRow | null> {
  const [row] = await sql<RecoveryRow[]>`
    INSERT INTO webhook_recoveries (id, account_id, webhook_id, since, until)
    SELECT ${id}, ${accountId}, ${webhookId}, ${since}, ${until}
     WHERE (SELECT count(*) FROM webhook_recoveries WHERE webhook_id = ${webhookId} AND state = 'running') < ${maxRunning}
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

/** Every transaction that was in progress when the recovery was requested has ended. */
const isSettled = fragment(
  (sql) => sql`
    coalesce(asked_in < (SELECT log_position(epoch, pg_snapshot_xmin(pg_current_snapshot()))
                           FROM log_epoch_in_force), true)`,
);

/**
 * Claims recoveries without a lease. A recovery waits until every earlier transaction has ended: its cursor follows `seq` of the
 * log, and a delivery that commits late with a smaller `seq` would be skipped.
 */
export async function claimRecoveries(sql: Sql, room: number, leaseSec: number): Promise<ClaimedRecovery[]> {
  // Served by webhook_recoveries_running.
  return sql<ClaimedRecovery[]>`
    UPDATE webhook_recoveries
       SET taken_until = now() + make_interval(secs => ${leaseSec}), epoch = epoch + 1
     WHERE id = ANY(ARRAY(SELECT id
                            FROM webhook_recoveries
                           WHERE state = 'running' AND ${hasCome(sql, sql`taken_until`, leaseSec)} AND ${isSettled(sql)}
                             AND ${isNotMoving(sql, sql`webhook_recoveries.account_id`)}
                           ORDER BY taken_until
                           LIMIT ${room}
                             FOR UPDATE SKIP LOCKED))
    RETURNING id, account_id AS "accountId", webhook_id AS "webhookId", epoch::float8 AS epoch`;
}

/** Ends the lease, so that another process can claim the recovery at once. */
export async function releaseRecovery(sql: Sql, { id, epoch }: ClaimedRecovery): Promise<void> {
  await sql`UPDATE webhook_recoveries SET taken_until = now() WHERE id = ${id} AND epoch = ${epoch} AND state = 'running'`;
}

interface Progress {
  readonly since: Date;
  readonly until: Date | null;
  readonly after: SequenceCursor;
}

/** Locks the recovery and returns its progress; `null`: another process has claimed it, or it has ended. */
export async function lockRecovery(sql: Sql, { id, epoch }: ClaimedRecovery): Promise<Progress | null> {
  const [row] = await sql<{ since: Date; until: Date | null; seq: number; afterId: string }[]>`
    SELECT since, until, after_seq::float8 AS seq, after_id AS "afterId"
      FROM webhook_recoveries
     WHERE id = ${id} AND epoch = ${epoch} AND state = 'running'
       FOR NO KEY UPDATE`;
  if (row === undefined) return null;
  const { since, until, seq, afterId } = row;
  return { since, until, after: { seq, id: afterId } };
}

/** Advances the cursor behind the batch and renews the lease. */
export async function advanceRecovery(
  sql: Sql,
  { id }: ClaimedRecovery,
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
  { id }: ClaimedRecovery,
  { state, recovered }: { readonly state: 'finished' | 'stopped'; readonly recovered: number },
): Promise<void> {
  await sql`
    UPDATE webhook_recoveries
       SET state = ${state}, recovered = recovered + ${recovered}, updated_at = now(), finished_at = now()
     WHERE id = ${id}`;
}

export interface MissedDelivery {
  readonly id: DeliveryId;
  readonly event_seq: number;
  /** When the delivery was exhausted; `null`: it is held. */
  readonly finished_at: Date | null;
}

/**
 * The deliveries that the webhook has missed and can still be sent, after the cursor, in the order of the log. Deliveries of
 * sites that the webhook no longer covers are left out.
 */
export async function listMissed(
  sql: Sql,
  webhookId: WebhookId,
  { since, until, after, limit }: Progress & { readonly limit: number },
): Promise<WalkResult<MissedDelivery>> {
  const eventColumns = () => sql`event_seq, account_id, webhook_id, event_xid, occurred_at, state, body`;
  // Served by deliveries_set_aside.
  const setAside = () => sql`
    SELECT id, NULL::timestamptz AS finished_at, ${eventColumns()}
      FROM deliveries
     WHERE webhook_id = ${webhookId} AND (state <> 'pending' OR due_at IS NOT NULL)
       AND (event_seq, id) > (${after.seq}::bigint, ${after.id}::uuid)
     ORDER BY event_seq, id
     LIMIT ${maxScanned}`;
  // Served by delivery_log_failed.
  const failed = () => sql`
    SELECT delivery_id AS id, at AS finished_at, ${eventColumns()}
      FROM delivery_log
     WHERE webhook_id = ${webhookId} AND final AND state <> 'delivered' AND at >= ${earliest(since)}
       AND (event_seq, delivery_id) > (${after.seq}::bigint, ${after.id}::uuid)
     ORDER BY event_seq, delivery_id
     LIMIT ${maxScanned}`;
  const condition = sql`
    state IN ('held', 'exhausted') AND occurred_at >= ${since}
       AND (${until}::timestamptz IS NULL OR occurred_at < ${until}) AND ${isStillCovered(sql)}`;
  const sources = [setAside, failed].map((select) => ({ select, condition }));
  return walk<MissedDelivery>(sql, { sources, columns: ['finished_at'], direction: 'up', limit });
}
