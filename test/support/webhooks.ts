import { randomUUID } from 'node:crypto';
import type { EventType } from '../../packages/server/src/events/catalogue.ts';
import { purposeOfSecret } from '../../packages/server/src/webhooks/channels/webhook-secret.ts';
import { Sealer } from '../../packages/server/src/identity/sealer.ts';
import { call, type Json } from './server.ts';
import { expectStatus, type Reached, type TestAccount } from './world.ts';

/** The fields a webhook cannot do without. Nobody answers at its address. */
export const webhookFields = {
  url: 'http://127.0.0.1:9/hook',
  method: 'POST',
  events: ['engagement.start'],
} as const;

export const apnsFields = { url: 'apns://0a1b2c@com.example.App?env=sandbox', events: ['engagement.start'] } as const;

export async function makeWebhook(
  server: Reached,
  { admin }: TestAccount,
  fields: Readonly<Record<string, unknown>> = {},
): Promise<Json> {
  const answer = await call(server, 'POST /webhooks', { token: admin, body: { ...webhookFields, ...fields } });
  return expectStatus(answer, 201).body;
}

/** Every destination made from now on is leased by another process for ever: what waits stays as a test has put it. */
export async function leaseElsewhere({ database: { sql } }: Pick<Reached, 'database'>): Promise<void> {
  await sql`
    ALTER TABLE destinations
      ALTER COLUMN owner SET DEFAULT gen_random_uuid(),
      ALTER COLUMN leased_until SET DEFAULT 'infinity'`;
}

interface Waiting {
  readonly state?: 'pending' | 'retrying' | 'held';
  readonly dueAt?: Date | null;
  readonly parked?: boolean;
  readonly attempts?: number;
}

/** Deliveries that wait for the webhook, as writers of events and a dispatcher leave them; answers their ids. */
export async function makeWaiting(
  { database: { sql } }: Reached,
  webhookId: string,
  waiting: readonly Waiting[],
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

export async function waitingFor({ database: { sql } }: Reached, webhookId: string): Promise<Json[]> {
  const rows = await sql`
    SELECT id, destination_id, state, attempts, parked, due_at
      FROM deliveries WHERE webhook_id = ${webhookId} ORDER BY event_seq`;
  return [...rows];
}

export async function rowOf({ database: { sql } }: Reached, webhookId: string): Promise<Json> {
  const [row] = await sql`SELECT * FROM webhooks WHERE id = ${webhookId}`;
  return row;
}

/** What is sealed there. */
export async function opened(server: Reached, id: string, column: 'secret' | 'old_secret'): Promise<string | null> {
  const sealed: Buffer | null = (await rowOf(server, id))[column];
  return sealed === null ? null : new Sealer(server.database.sql).open(sealed, purposeOfSecret(id));
}

export async function originOf({ database: { sql } }: Reached, destinationId: string): Promise<string> {
  const [row] = await sql<{ origin: string }[]>`SELECT origin FROM destinations WHERE id = ${destinationId}`;
  return row?.origin ?? '';
}
