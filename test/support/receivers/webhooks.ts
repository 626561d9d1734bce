import { randomUUID } from 'node:crypto';
import type { Sql } from '../../../packages/server/src/platform/database/database.ts';
import type { EventType } from '../../../packages/server/src/events/catalogue.ts';
import { purposeOfSecret } from '../../../packages/server/src/channels/webhook-secret.ts';
import { Sealer } from '../../../packages/server/src/identity/sealer.ts';
import { call, type Json } from '../server.ts';
import { expectStatus, type ServerHandle, type TestAccount } from '../world.ts';

/** The required fields of a webhook. Nothing listens at its URL. */
export const webhookFields = {
  url: 'http://127.0.0.1:9/hook',
  method: 'POST',
  events: ['engagement.start'],
} as const;

export const apnsFields = { url: 'apns://0a1b2c@com.example.App?env=sandbox', events: ['engagement.start'] } as const;

export async function makeWebhook(
  server: ServerHandle,
  { admin }: TestAccount,
  fields: Readonly<Record<string, unknown>> = {},
): Promise<Json> {
  const answer = await call(server, 'POST /webhooks', { token: admin, body: { ...webhookFields, ...fields } });
  return expectStatus(answer, 201).body;
}

/** Makes every new destination leased by another process for ever, so that no dispatcher sends the deliveries of a test. */
export async function leaseElsewhere({ database: { sql } }: Pick<ServerHandle, 'database'>): Promise<void> {
  await sql`
    ALTER TABLE destinations
      ALTER COLUMN owner SET DEFAULT gen_random_uuid(),
      ALTER COLUMN leased_until SET DEFAULT 'infinity'`;
}

interface WaitingDelivery {
  readonly state?: 'pending' | 'retrying' | 'held';
  readonly dueAt?: Date | null;
  readonly parked?: boolean;
  readonly attempts?: number;
}

/** Inserts waiting deliveries of the webhook. Returns their ids. */
export async function insertWaiting(
  { database: { sql } }: { readonly database: { readonly sql: Sql } },
  webhookId: string,
  waiting: readonly WaitingDelivery[],
): Promise<string[]> {
  const type: EventType = 'engagement.start';
  const ids: string[] = [];
  for (const { state = 'pending', dueAt = null, parked = false, attempts = 0 } of waiting) {
    const [row] = await sql<{ id: string }[]>`
      INSERT INTO deliveries (account_id, webhook_id, destination_id, engagement_id, event_id, event_seq, event_xid,
                              occurred_at, event_type, state, attempts, parked, due_at)
      SELECT account_id, id, destination_id, ${randomUUID()}, ${randomUUID()}, nextval('events_seq_seq'),
             current_log_position(), now(), ${type}, ${state}, ${attempts}, ${parked}, ${dueAt}
        FROM webhooks WHERE id = ${webhookId}
      RETURNING id`;
    if (row === undefined) throw new Error('there is no such webhook');
    ids.push(row.id);
  }
  return ids;
}

export async function waitingRows({ database: { sql } }: ServerHandle, webhookId: string): Promise<Json[]> {
  const rows = await sql`
    SELECT id, destination_id, state, attempts, parked, due_at
      FROM deliveries WHERE webhook_id = ${webhookId} ORDER BY event_seq`;
  return [...rows];
}

export async function webhookRow({ database: { sql } }: ServerHandle, webhookId: string): Promise<Json> {
  const [row] = await sql`SELECT * FROM webhooks WHERE id = ${webhookId}`;
  return row;
}

/** The decrypted secret in a column. */
export async function openSecret(
  server: ServerHandle,
  id: string,
  column: 'secret' | 'old_secret',
): Promise<string | null> {
  const sealed: Buffer | null = (await webhookRow(server, id))[column];
  return sealed === null ? null : new Sealer(server.database.sql).open(sealed, purposeOfSecret(id));
}

export async function originOf({ database: { sql } }: ServerHandle, destinationId: string): Promise<string> {
  const [row] = await sql<{ origin: string }[]>`SELECT origin FROM destinations WHERE id = ${destinationId}`;
  return row?.origin ?? '';
}
