import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { EventType } from '../../packages/server/src/events/catalogue.ts';
import { makeEvent } from '../../packages/server/src/events/make-event.ts';
import { createAccount, newKey } from '../../packages/server/src/identity/accounts.ts';
import type { SiteId } from '../../packages/server/src/platform/ids.ts';
import './people/cheap-hashes.ts';
import { call, type Answer, type Json, type TestServer } from './server.ts';

/** A server, in this process or another, and its database. */
export type ServerHandle = Pick<TestServer, 'url' | 'database'>;

export interface TestAccount {
  /** Token of the super_manager of every site. */
  readonly admin: string;
  readonly adminId: string;
  readonly key: { readonly id: string; readonly secret: string };
  readonly siteId: SiteId;
}

/** Creates an account as the first start does, and signs in. */
export async function makeAccount(server: ServerHandle): Promise<TestAccount> {
  const key = newKey();
  const { siteId } = await createAccount(server.database.sql, { accountName: 'Test', email: 'admin@test', key });
  const admin = await signIn(server, key);
  const session = await call(server, 'GET /operator_authentication/sessions/current', { token: admin });
  return { admin, adminId: session.body.operator_id, key, siteId };
}

export async function signIn(server: ServerHandle, key: { id: string; secret: string }): Promise<string> {
  const answer = await call(server, 'POST /operator_authentication/tokens', {
    body: { api_key_id: key.id, api_key_secret: key.secret },
  });
  return expectStatus(answer, 200).body.token;
}

export function expectStatus(answer: Answer, status: number): Answer {
  if (answer.status !== status)
    throw new Error(`expected ${status}, got ${answer.status}: ${JSON.stringify(answer.body)}`);
  return answer;
}

export async function makeSite(server: ServerHandle, { admin }: TestAccount, name = 'Another site'): Promise<SiteId> {
  return expectStatus(await call(server, 'POST /sites', { token: admin, body: { name } }), 201).body.id;
}

export async function makeTeam(server: ServerHandle, { admin }: TestAccount, siteId: SiteId): Promise<string> {
  const body = { site_id: siteId, name: 'Team' };
  return expectStatus(await call(server, 'POST /teams', { token: admin, body }), 201).body.id;
}

export interface TestOperator {
  readonly id: string;
  readonly token: string;
  readonly keyId: string;
  readonly key: { readonly id: string; readonly secret: string };
}

/** Creates an operator with these roles, and signs in with their own API key. */
export async function makeOperator(
  server: ServerHandle,
  { admin }: TestAccount,
  assignments: readonly { site_id: string; role: string; team_ids?: string[] }[],
): Promise<TestOperator> {
  const body = { name: 'Somebody', email: `${randomUUID()}@test`, assignments };
  const { id } = expectStatus(await call(server, 'POST /operators', { token: admin, body }), 201).body;
  const key = expectStatus(await call(server, `POST /operators/${id}/api_keys`, { token: admin }), 201).body;
  return { id, token: await signIn(server, key), keyId: key.id, key };
}

/** Creates an access token of the operator. */
export async function makeAccessToken(
  server: ServerHandle,
  { admin }: { readonly admin: string },
  operatorId: string,
  fields: Readonly<Record<string, unknown>> = {},
): Promise<{ readonly id: string; readonly token: string }> {
  const body = { name: 'Bridge', ...fields };
  return expectStatus(await call(server, `POST /operators/${operatorId}/access_tokens`, { token: admin, body }), 201)
    .body;
}

/** Creates an application token. `header` is the value of the Authorization header. */
export async function makeApplicationToken(
  server: ServerHandle,
  { admin, siteId }: TestAccount,
  kind: 'secret' | 'publishable',
): Promise<{ id: string; header: string }> {
  const answer = await call(server, `POST /sites/${siteId}/application_tokens`, { token: admin, body: { kind } });
  const { id, token } = expectStatus(answer, 201).body;
  return { id, header: `ApplicationToken ${token}` };
}

export async function makeVisitor(
  server: ServerHandle,
  { admin, siteId }: TestAccount,
  site: SiteId = siteId,
): Promise<{ id: string; token: string }> {
  const answer = await call(server, 'POST /visitors', { token: admin, body: { site_id: site } });
  const { id, access_token: token } = expectStatus(answer, 200).body;
  return { id, token };
}

/** The required fields of a queue. */
export const queueFields = { name: 'Queue', capacity_policy: { type: 'fixed', capacity: 10 }, routing_policy: {} };

export async function makeQueue(
  server: ServerHandle,
  { admin, siteId }: TestAccount,
  fields: Readonly<Record<string, unknown>> = {},
): Promise<string> {
  const body = { site_id: siteId, ...queueFields, ...fields };
  return expectStatus(await call(server, 'POST /queues', { token: admin, body }), 201).body.id;
}

/** The required fields of a scheduling policy: open on weekdays from nine to five in Tallinn. */
export const policyFields = {
  name: 'Office hours',
  timezone: 'Europe/Tallinn',
  business_hours: [{ opens_at: '09:00', closes_at: '17:00', days_of_week: ['mon', 'tue', 'wed', 'thu', 'fri'] }],
};

export async function makePolicy(
  server: ServerHandle,
  { admin, siteId }: TestAccount,
  fields: Readonly<Record<string, unknown>> = {},
): Promise<string> {
  const body = { site_id: siteId, ...policyFields, ...fields };
  return expectStatus(await call(server, 'POST /queues/scheduling_policies', { token: admin, body }), 201).body.id;
}

/** The required fields of an identity provider. Nothing listens at its address. */
export function providerFields(): Readonly<Record<string, unknown>> {
  return { name: `Provider ${randomUUID()}`, type: 'openid_connect', issuer: 'http://127.0.0.1:9', client_id: 'usher' };
}

export async function makeProvider(
  server: ServerHandle,
  { admin, siteId }: TestAccount,
  fields: Readonly<Record<string, unknown>> = {},
): Promise<string> {
  const path = `/sites/${siteId}/visitor_authentication_providers`;
  const answer = await call(server, `POST ${path}`, { token: admin, body: { ...providerFields(), ...fields } });
  return expectStatus(answer, 201).body.id;
}

export interface TestVisitor {
  readonly id: string;
  readonly token: string;
}

/** A new visitor, or the given one, requests a ticket. The answer may be a refusal. */
export async function requestTicket(
  server: ServerHandle,
  who: TestAccount,
  fields: Readonly<Record<string, unknown>> = {},
  visitor?: TestVisitor,
): Promise<Answer & { visitor: TestVisitor }> {
  const requester = visitor ?? (await makeVisitor(server, who));
  const body = { site_id: who.siteId, media: 'text', ...fields };
  return { ...(await call(server, 'POST /queue_tickets', { token: requester.token, body })), visitor: requester };
}

/** Puts a new visitor, or the given one, into a queue. */
export async function enqueue(
  server: ServerHandle,
  who: TestAccount,
  queue: string,
  visitor?: TestVisitor,
): Promise<{ id: string; visitor: TestVisitor }> {
  const answer = await requestTicket(server, who, { queue_ids: [queue] }, visitor);
  return { id: expectStatus(answer, 201).body.id, visitor: answer.visitor };
}

/** Sets the presence of the operator; available by default. */
export async function setPresence(
  server: ServerHandle,
  operator: Pick<TestOperator, 'id' | 'token'>,
  presence: Readonly<Record<string, unknown>> = {},
): Promise<void> {
  const body = { available: true, ...presence };
  expectStatus(await call(server, `PUT /operators/${operator.id}/presence`, { token: operator.token, body }), 200);
}

/** Creates an available operator of the account's site. */
export async function makeAvailableOperator(
  server: ServerHandle,
  who: TestAccount,
  presence: Readonly<Record<string, unknown>> = {},
): Promise<TestOperator> {
  const operator = await makeOperator(server, who, [{ site_id: who.siteId, role: 'operator' }]);
  await setPresence(server, operator, presence);
  return operator;
}

/** The pending offers of the operator. */
export async function offersOf(server: ServerHandle, { token }: { readonly token: string }): Promise<Json[]> {
  return expectStatus(await call(server, 'GET /engagement_requests?state=pending', { token }), 200).body
    .engagement_requests;
}

/** Accepts the only offer of the operator. Returns the id of the engagement. */
export async function acceptOffer(server: ServerHandle, operator: { readonly token: string }): Promise<string> {
  const [offer] = await offersOf(server, operator);
  const answer = await call(server, `PATCH /engagement_requests/${offer?.id}`, {
    token: operator.token,
    body: { action: 'accept' },
  });
  return expectStatus(answer, 200).body.engagement_id;
}

/**
 * Every event of the account so far, oldest first, without the fields that differ from run to run. Log entries that are only for
 * the live feed are not events.
 */
export async function eventsOf(server: ServerHandle, { adminId }: TestAccount): Promise<Json[]> {
  const rows = await server.database.sql<{ payload: Json; stored: string }[]>`
    SELECT payload, payload::text AS stored FROM events
     WHERE account_id = (SELECT account_id FROM operators WHERE id = ${adminId}) AND type NOT LIKE '%.state'
     ORDER BY seq`;
  return rows.map(({ payload, stored }) => {
    const { event_id, dispatched_at, ...rest } = payload;
    assert.match(event_id, /^[0-9a-f-]{36}$/);
    assert.match(dispatched_at, /^\d{4}-\d\d-\d\dT[\d:]+\.\d{3}Z$/);
    assertInCatalogue(payload, stored);
    return rest;
  });
}

/** Asserts that the event fits its schema, that its fields are in the order of the catalogue, and that it is stored without spaces. */
function assertInCatalogue(payload: Json, stored: string): void {
  const { event_type, event_id, dispatched_at, ...fields } = payload;
  const made = makeEvent(event_type as EventType, { id: event_id, at: new Date(dispatched_at) }, fields);
  assert.equal(stored, JSON.stringify(made));
}
