import type { WebhookId } from '../../events/subscriptions/attach-webhooks.ts';
import { onDemandTypes, type EventType } from '../../events/catalogue.ts';
import type { DestinationId } from '../../events/subscriptions/destination.ts';
import { compileFilter, type CompiledFilter, type Filter } from '../../events/subscriptions/filter.ts';
import { loggedTypes } from '../../events/subscriptions/subscribers.ts';
import type { SqlFragment, Sql } from '../../platform/database/database.ts';
import type { AccountId, OperatorId, SiteId } from '../../platform/ids.ts';
import { webhookFields, type WebhookRow, type WebhookSettings } from './webhook.ts';

/** Which webhooks of an account an operator may see. */
export interface Reach {
  readonly accountId: AccountId;
  /** The sites that the operator is super_manager of. */
  readonly siteIds: readonly SiteId[];
  /** The operator, who always sees their own registrations; `null`: the token is for some sites only. */
  readonly registrar: OperatorId | null;
}

const plainColumns = webhookFields.columns.filter((name) => name !== 'headers');

const columns = (sql: Sql): SqlFragment => sql`
  ${sql(plainColumns)}, CASE WHEN method IS NOT NULL THEN headers END AS headers, credentials IS NOT NULL AS has_credentials,
  webhook_reach(site_ids, has_covered) AS reach_site_ids,
  coalesce(covers, ARRAY(SELECT s.id FROM sites s
                          WHERE s.account_id = webhooks.account_id
                          ORDER BY s.created_at, s.id)) AS covered_site_ids`;

/** Webhooks that cover, and have covered, no site beyond the reach. Deleted sites do not count. */
const within = (sql: Sql, { accountId, siteIds }: Reach): SqlFragment => sql`
  (${siteIds.length > 0} AND NOT EXISTS (
     SELECT 1 FROM sites s
      WHERE s.account_id = ${accountId} AND s.id <> ALL (${[...siteIds]}::uuid[])
        AND coalesce(s.id = ANY(webhook_reach(site_ids, has_covered)), true)))`;

/**
 * Registered webhooks that the operator may see: their own, and those within their reach. Served by webhooks_registered.
 */
const seen = (sql: Sql, reach: Reach): SqlFragment => sql`
  account_id = ${reach.accountId} AND side IS NULL AND deleted_at IS NULL
  AND (registered_by = ${reach.registrar} OR ${within(sql, reach)})`;

/**
 * Whether the operator may change the webhook: it is within their reach; or it is their own, and they are super_manager of one of
 * its sites. (A webhook covers only sites that its registrar is super_manager of.)
 */
const controlled = (sql: Sql, reach: Reach): SqlFragment => sql`
  ((registered_by = ${reach.registrar} AND ${reach.siteIds.length > 0}
    AND coalesce(site_ids && ${[...reach.siteIds]}::uuid[], true)) IS TRUE
   OR ${within(sql, reach)})`;

/** A webhook that the caller may see, and whether they may change it. */
export type SeenWebhook = WebhookRow & { readonly controlled: boolean };

export async function reachesEverySite(sql: Sql, { accountId, siteIds }: Reach): Promise<boolean> {
  const [row] = await sql<{ reaches: boolean }[]>`
    SELECT NOT EXISTS (SELECT 1 FROM sites s
                        WHERE s.account_id = ${accountId} AND s.id <> ALL (${[...siteIds]}::uuid[])) AS reaches`;
  return row?.reaches === true;
}

/** Whether all these sites exist. */
export async function areSites(sql: Sql, siteIds: readonly SiteId[]): Promise<boolean> {
  const [row] = await sql<{ exist: boolean }[]>`
    SELECT NOT EXISTS (SELECT FROM unnest(${[...siteIds]}::uuid[]) AS named (id)
                        WHERE NOT EXISTS (SELECT FROM sites s WHERE s.id = named.id)) AS exist`;
  return row?.exist === true;
}

export async function findWebhook(sql: Sql, reach: Reach, id: WebhookId): Promise<SeenWebhook | null> {
  const [row] = await sql<SeenWebhook[]>`
    SELECT ${columns(sql)}, ${controlled(sql, reach)} AS controlled
      FROM webhooks
     WHERE id = ${id} AND ${seen(sql, reach)}`;
  return row ?? null;
}

/** Locks the webhook until the transaction ends. */
export async function lockWebhook(sql: Sql, reach: Reach, id: WebhookId): Promise<SeenWebhook | null> {
  const [row] = await sql<SeenWebhook[]>`
    SELECT ${columns(sql)}, ${controlled(sql, reach)} AS controlled
      FROM webhooks
     WHERE id = ${id} AND ${seen(sql, reach)} FOR NO KEY UPDATE`;
  return row ?? null;
}

export async function listWebhooks(
  sql: Sql,
  reach: Reach,
  window: { limit: number | null; offset: number },
): Promise<SeenWebhook[]> {
  return sql<SeenWebhook[]>`
    SELECT ${columns(sql)}, ${controlled(sql, reach)} AS controlled
      FROM webhooks
     WHERE ${seen(sql, reach)}
     ORDER BY created_at, id
     LIMIT ${window.limit} OFFSET ${window.offset}`;
}

/**
 * How many webhooks count towards the limit of the account, and how many of them the operator cannot see. Exact only while the
 * account is locked.
 */
export async function countRegistered(
  sql: Sql,
  reach: Reach,
): Promise<{ readonly all: number; readonly unseen: number }> {
  const [row] = await sql<{ all: number; unseen: number }[]>`
    SELECT count(*)::integer AS all, count(*) FILTER (WHERE (${seen(sql, reach)}) IS NOT TRUE)::integer AS unseen
      FROM webhooks
     WHERE account_id = ${reach.accountId} AND side IS NULL AND deleted_at IS NULL AND NOT is_sample`;
  return row ?? { all: 0, unseen: 0 };
}

interface WebhookIds {
  readonly id: WebhookId;
  readonly accountId: AccountId;
  readonly destinationId: DestinationId;
}

/** `null`: the webhook has none. */
interface SealedSecrets {
  readonly secret: Buffer | null;
  readonly credentials?: Buffer | null;
}

export async function insertWebhook(
  sql: Sql,
  { id, accountId, destinationId, registeredBy }: WebhookIds & { readonly registeredBy: OperatorId | 'sample data' },
  { secret, credentials = null, ...webhook }: WebhookSettings & SealedSecrets,
): Promise<WebhookRow> {
  const { url, method, headers, events, site_ids, description, ordering, enabled, filter } = webhook;
  const isSample = registeredBy === 'sample data';
  const registrar = isSample ? null : registeredBy;
  const { path, values } = compiledOf(filter);
  const [row] = await sql<WebhookRow[]>`
    INSERT INTO webhooks (id, account_id, destination_id, url, method, headers, events, hears, site_ids, description,
                          ordering, secret, credentials, enabled, disabled_because, disabled_at, registered_by, url_set_by, is_sample,
                          filter, filter_path, filter_values)
    VALUES (${id}, ${accountId}, ${destinationId}, ${url}, ${method}, ${JSON.stringify(headers ?? {})}::text::json,
            ${events}, ${loggedTypes(events)}, ${site_ids}::uuid[], ${description},
            ${ordering}, ${secret}, ${credentials}, ${enabled}, ${enabled ? null : 'asked'}, ${enabled ? null : sql`now()`},
            ${registrar}, ${registrar}, ${isSample}, ${jsonOf(filter)}::text::json,
            ${path}::text::jsonpath, ${JSON.stringify(values)}::text::jsonb)
    RETURNING ${columns(sql)}`;
  if (row === undefined) throw new Error('INSERT returned no webhook');
  return row;
}

interface ChangedSecrets {
  readonly isSigned: boolean;
  readonly credentials: Buffer | null | 'as before';
}

/**
 * Updates a locked webhook. `disabled_because` and `disabled_at` stay if the webhook was disabled before; `failing_since` is
 * cleared when it gets a new URL or is enabled again. A channel that does not sign has no secret.
 */
export async function updateWebhook(
  sql: Sql,
  { id, destinationId, urlSetBy }: Omit<WebhookIds, 'accountId'> & { readonly urlSetBy: OperatorId | null },
  { isSigned, credentials, ...webhook }: WebhookSettings & ChangedSecrets,
): Promise<WebhookRow> {
  const { url, method, headers, events, site_ids, description, ordering, enabled, filter } = webhook;
  const { path, values } = compiledOf(filter);
  const [row] = await sql<WebhookRow[]>`
    UPDATE webhooks
       SET destination_id = ${destinationId}, url = ${url}, method = ${method},
           headers = ${JSON.stringify(headers ?? {})}::text::json, events = ${events}, hears = ${loggedTypes(events)},
           site_ids = ${site_ids}::uuid[], description = ${description}, ordering = ${ordering},
           url_set_by = ${urlSetBy}, enabled = ${enabled},
           disabled_because = CASE WHEN NOT ${enabled} THEN coalesce(disabled_because, 'asked') END,
           disabled_at = CASE WHEN NOT ${enabled} THEN coalesce(disabled_at, now()) END,
           alarmed_at = CASE WHEN enabled AND NOT ${enabled} THEN coalesce(alarmed_at, now()) ELSE alarmed_at END,
           failing_since = CASE WHEN url = ${url} AND NOT (${enabled} AND NOT enabled) THEN failing_since END,
           secret = CASE WHEN ${isSigned} THEN secret END,
           old_secret = CASE WHEN ${isSigned} THEN old_secret END,
           old_secret_until = CASE WHEN ${isSigned} THEN old_secret_until END,
           credentials = ${credentials === 'as before' ? sql`credentials` : credentials},
           filter = ${jsonOf(filter)}::text::json, filter_path = ${path}::text::jsonpath,
           filter_values = ${JSON.stringify(values)}::text::jsonb,
           version = version + 1, updated_at = now()
     WHERE id = ${id}
    RETURNING ${columns(sql)}`;
  if (row === undefined) throw new Error('a locked webhook has vanished');
  return row;
}

function jsonOf(filter: Filter | null): string | null {
  return filter === null ? null : JSON.stringify(filter);
}

function compiledOf(filter: Filter | null): {
  readonly path: string | null;
  readonly values: CompiledFilter['values'];
} {
  return filter === null ? { path: null, values: {} } : compileFilter(filter);
}

/** The filters of the account's other webhooks. They change only while the account is locked. */
export async function otherFilters(sql: Sql, accountId: AccountId, id: WebhookId): Promise<Filter[]> {
  const rows = await sql<{ filter: Filter }[]>`
    SELECT filter FROM webhooks
     WHERE account_id = ${accountId} AND side IS NULL AND deleted_at IS NULL AND filter IS NOT NULL AND id <> ${id}`;
  return rows.map(({ filter }) => filter);
}

/**
 * Stores in the row of a locked account which events on demand its webhooks subscribe. Turns read it there. A disabled webhook
 * counts, because its deliveries are held.
 */
export async function noteOnDemand(sql: Sql, accountId: AccountId): Promise<void> {
  await sql`
    UPDATE accounts a SET on_demand = subscribed.types
      FROM (SELECT ARRAY(SELECT DISTINCT type
                           FROM webhooks w, unnest(w.hears) AS type
                          WHERE w.account_id = ${accountId} AND w.side IS NULL AND w.deleted_at IS NULL
                            AND type = ANY(${[...onDemandTypes]}::text[])
                          ORDER BY type) AS types) AS subscribed
     WHERE a.id = ${accountId} AND a.on_demand <> subscribed.types`;
}

/** What is reported of the states of queues and operators, by event type. */
const reportedKinds = new Map<EventType, string>([
  ['queue.status', 'queue'],
  ['operator.presence', 'operator'],
]);

interface NewSubscription {
  readonly accountId: AccountId;
  readonly id: WebhookId;
  /** The types that the webhook has subscribed from now on. */
  readonly types: readonly EventType[];
}

/**
 * The first webhook of a locked account that subscribes to states of queues or operators is sent changes from now on, and not those
 * since an earlier subscription ended. So that is forgotten, and a turn notes how they are now.
 */
export async function beginReports(sql: Sql, { accountId, id, types }: NewSubscription): Promise<void> {
  const reported = types.filter((type) => reportedKinds.has(type));
  if (reported.length === 0) return;
  const others = await sql<{ type: EventType }[]>`
    SELECT DISTINCT unnest(hears) AS type
      FROM webhooks WHERE account_id = ${accountId} AND side IS NULL AND deleted_at IS NULL AND id <> ${id}`;
  const first = reported.filter((type) => !others.some((other) => other.type === type));
  if (first.length === 0) return;
  const kinds = first.flatMap((type) => reportedKinds.get(type) ?? []);
  await sql`DELETE FROM reported_states WHERE account_id = ${accountId} AND kind = ANY(${kinds})`;
  // Another version makes every process read again what was reported.
  await sql`SELECT raise_board(${accountId}, '{}')`;
}

/** Makes the operator the registrar of a locked webhook. */
export async function takeOver(sql: Sql, id: WebhookId, operatorId: OperatorId): Promise<WebhookRow> {
  const [row] = await sql<WebhookRow[]>`
    UPDATE webhooks SET registered_by = ${operatorId}, url_set_by = ${operatorId} WHERE id = ${id}
    RETURNING ${columns(sql)}`;
  if (row === undefined) throw new Error('a locked webhook has vanished');
  return row;
}

/** Keeps the row for the delivery log, and clears all secrets in it. */
export async function markDeleted(sql: Sql, id: WebhookId): Promise<void> {
  await sql`
    UPDATE webhooks
       SET deleted_at = now(), headers = '{}', credentials = NULL, secret = NULL, old_secret = NULL, old_secret_until = NULL
     WHERE id = ${id}`;
}

export interface Secrets {
  readonly secret: Buffer | null;
  readonly oldUntil: Date | null;
}

export async function findSecrets(sql: Sql, id: WebhookId): Promise<Secrets> {
  const [row] = await sql<Secrets[]>`
    SELECT secret, CASE WHEN old_secret_until > now() THEN old_secret_until END AS "oldUntil"
      FROM webhooks WHERE id = ${id}`;
  if (row === undefined) throw new Error('a locked webhook has vanished');
  return row;
}

/** Sets the secret; the current one becomes the former secret. Returns when that one expires; `null`: there was none. */
export async function replaceSecret(
  sql: Sql,
  id: WebhookId,
  { secret, oldLastsSec }: { readonly secret: Buffer; readonly oldLastsSec: number },
): Promise<Date | null> {
  const [row] = await sql<{ until: Date | null }[]>`
    UPDATE webhooks
       SET old_secret = secret,
           old_secret_until = CASE WHEN secret IS NOT NULL THEN now() + make_interval(secs => ${oldLastsSec}) END,
           secret = ${secret}
     WHERE id = ${id}
    RETURNING old_secret_until AS until`;
  return row?.until ?? null;
}

interface TestDelivery {
  readonly eventId: string;
  readonly eventType: string;
  readonly at: Date;
  /** JSON. */
  readonly body: string;
}

/** Inserts a parked delivery that is due at once, with a `seq` of its own that no event has. */
export async function insertTest(
  sql: Sql,
  { id, account_id, destination_id }: WebhookRow,
  { eventId, eventType, at, body }: TestDelivery,
): Promise<string> {
  const [row] = await sql<{ id: string }[]>`
    INSERT INTO deliveries (account_id, webhook_id, destination_id, event_id, event_seq, event_xid, occurred_at, event_type,
                            state, parked, due_at, body)
    VALUES (${account_id}, ${id}, ${destination_id}, ${eventId}, nextval('events_seq_seq'), current_log_position(), ${at},
            ${eventType}, 'pending', true, now(), ${body}::text::json)
    RETURNING id`;
  if (row === undefined) throw new Error('INSERT returned no delivery');
  return row.id;
}
