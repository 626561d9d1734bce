import { randomUUID } from 'node:crypto';
import type { Sql } from '../../../packages/server/src/platform/database/database.ts';
import type { Cast } from '../api/cast.ts';
import { fileForm } from '../people/files.ts';
import { webhookFields } from '../receivers/webhooks.ts';
import { call, type Json, type TestServer } from '../server.ts';
import {
  acceptOffer,
  enqueue,
  expectStatus,
  makeAvailableOperator,
  makeQueue,
  policyFields,
  providerFields,
  queueFields,
  setPresence,
  type TestAccount,
  type TestVisitor,
} from '../world.ts';

/** Whose data a text or an id is. */
export type Owner = 'own site' | 'bystander' | 'other site' | 'stranger';

/** Data that most callers must not see, and how to recognise it in an answer. */
export interface Secrets {
  /** Ids of objects of the other owners, one of each kind. */
  readonly foreignIds: readonly string[];
  /** A visitor of the account's site whom the requests are not about. */
  readonly bystander: TestVisitor;
  /** The data in the text, and whose it is. */
  foundIn(text: string): Map<string, Owner>;
  /** An accepted request may store an id where others may read it, such as a queue of another site as fallback. */
  giveAway(request: { readonly target: string; readonly body: Buffer | null }): void;
}

const markers: Readonly<Record<Owner, string>> = {
  'own site': `sealedofown${randomUUID().slice(0, 8)}`,
  bystander: `sealedofbystander${randomUUID().slice(0, 8)}`,
  'other site': `sealedofother${randomUUID().slice(0, 8)}`,
  stranger: `sealedofstranger${randomUUID().slice(0, 8)}`,
};

const anyUuid = /[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}/gi;

/** Fills the account's site, its other site and the stranger's site with texts that name their owner. */
export async function plantSecrets(cast: Cast): Promise<Secrets> {
  const { server, account, stranger, otherSite } = cast;
  const secretTexts = (Object.entries(markers) as [Owner, string][]).map(([owner, text]): [string, Owner] => [
    text,
    owner,
  ]);
  const sites = [
    ['own site', account],
    ['other site', { ...account, siteId: otherSite }],
    ['stranger', stranger],
  ] as const;
  for (const [owner, who] of sites)
    secretTexts.push(...(await plantOnSite(server, who, markers[owner])).map((text): [string, Owner] => [text, owner]));
  const bystander = await plantEngagement(server, account, markers.bystander);
  secretTexts.push([stranger.admin, 'stranger'], [stranger.key.id, 'stranger'], [stranger.key.secret, 'stranger']);
  const { sql } = server.database;
  const ids = new Map<string, Owner>();
  const [theirs] = await sql<{ id: string }[]>`SELECT account_id AS id FROM sites WHERE id = ${stranger.siteId}`;
  for (const id of await idsIn(sql, 'account_id', theirs?.id ?? '')) ids.set(id, 'stranger');
  // Rows of the other site and of the bystander also name the account and its operators.
  for (const id of await ownIdsIn(sql, 'site_id', otherSite)) ids.set(id, 'other site');
  for (const id of await ownIdsIn(sql, 'visitor_id', bystander.id)) ids.set(id, 'bystander');
  ids.set(bystander.id, 'bystander');
  const foreignIds = [...ids.keys()].filter((_, index) => index % Math.ceil(ids.size / 40) === 0);
  return {
    foreignIds,
    bystander,
    giveAway({ target, body }) {
      for (const [id] of `${target} ${(body ?? '').toString()}`.matchAll(anyUuid)) ids.delete(id.toLowerCase());
    },
    foundIn(text) {
      const found = new Map<string, Owner>();
      for (const [secret, owner] of secretTexts) if (text.includes(secret)) found.set(secret, owner);
      for (const [id] of text.matchAll(anyUuid)) {
        const owner = ids.get(id.toLowerCase());
        if (owner !== undefined) found.set(id.toLowerCase(), owner);
      }
      return found;
    },
  };
}

/** Every UUID in rows with this value in a column. */
async function idsIn(sql: Sql, column: string, value: string): Promise<Set<string>> {
  const rows = (await rowsWith(sql, column, value)).map((row) => JSON.stringify(row));
  return new Set(rows.flatMap((row) => row.match(anyUuid) ?? []));
}

/** The ids of these rows themselves. */
async function ownIdsIn(sql: Sql, column: string, value: string): Promise<string[]> {
  return (await rowsWith(sql, column, value)).map(({ id }) => id).filter((id) => typeof id === 'string');
}

async function rowsWith(sql: Sql, column: string, value: string): Promise<Json[]> {
  const tables = await sql<{ name: string }[]>`
    SELECT c.relname AS name FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
     WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
       AND a.attname = ${column} AND a.atttypid = 'uuid'::regtype`;
  const found: Json[] = [];
  for (const { name } of tables) {
    const rows = await sql<{ row: Json }[]>`
      SELECT to_jsonb(t) AS row FROM ${sql(name)} AS t WHERE ${sql(column)} = ${value}`;
    found.push(...rows.map(({ row }) => row));
  }
  return found;
}

/** Gives everything on the site a name with the marker. Returns the credentials that were shown once. */
async function plantOnSite(server: TestServer, who: TestAccount, marker: string): Promise<string[]> {
  const { admin: token, siteId: site_id } = who;
  const make = async (path: string, body: Json, status = 201): Promise<Json> =>
    expectStatus(await call(server, `POST ${path}`, { token, body }), status).body;
  const settings = { name: marker, reactive_call_timeout: 3_600, proactive_call_timeout: 3_600 };
  expectStatus(await call(server, `PATCH /sites/${site_id}`, { token, body: settings }), 200);
  await make('/teams', { site_id, name: marker, description: marker });
  const assignments = [{ site_id, role: 'operator' }];
  const operator = await make('/operators', { name: marker, email: `${marker}@test.example`, assignments });
  const key = await make(`/operators/${operator.id}/api_keys`, {});
  const access = await make(`/operators/${operator.id}/access_tokens`, { name: marker });
  const queue = await make('/queues', { site_id, ...queueFields, name: marker });
  await make('/queues/scheduling_policies', { site_id, ...policyFields, name: marker });
  await make('/digital_channels', { site_id, kind: 'sms', address: marker, queue_id: queue.id });
  await make('/sip_domains', { site_id, domain: `${marker}.example.com` });
  await make(`/sites/${site_id}/visitor_authentication_providers`, { ...providerFields(), name: marker });
  await make('/webhooks', {
    ...webhookFields,
    url: `http://127.0.0.1:9/${marker}`,
    site_ids: [site_id],
    enabled: false,
  });
  const application = await make(`/sites/${site_id}/application_tokens`, { kind: 'secret' });
  await plantEngagement(server, who, marker);
  return [key.secret, access.token, application.token];
}

/** A visitor who has talked with an operator. */
async function plantEngagement(server: TestServer, who: TestAccount, marker: string): Promise<TestVisitor> {
  const { admin: token, siteId } = who;
  const queue = await makeQueue(server, who);
  const operator = await makeAvailableOperator(server, who);
  const { visitor } = await enqueue(server, who, queue);
  const profile = {
    name: marker,
    email: `${marker}@test.example`,
    note: marker,
    custom_attributes: { [marker]: marker },
  };
  expectStatus(await call(server, `PATCH /sites/${siteId}/visitors/${visitor.id}`, { token, body: profile }), 200);
  const engagement = await acceptOffer(server, operator);
  const base = `/engagements/${engagement}`;
  for (const { token } of [visitor, operator]) {
    const message = `PUT ${base}/chat_messages/${randomUUID()}`;
    expectStatus(await call(server, message, { token, body: { content: marker } }), 200);
  }
  const form = fileForm(marker, `${marker}.txt`);
  expectStatus(await call(server, `POST ${base}/files`, { token: visitor.token, body: form }), 200);
  // Nobody is offered to this operator later.
  await setPresence(server, operator, { available: false });
  return visitor;
}
