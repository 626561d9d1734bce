import assert from 'node:assert/strict';
import { call, until, type Json } from './server.ts';
import { expectStatus, makeProvider, type Reached, type TestAccount, type TestVisitor } from './world.ts';
import type { TestOpenid } from './openid.ts';

/** Registers the identity provider with the account's site. */
export async function register(
  server: Reached,
  own: TestAccount,
  openid: TestOpenid,
  fields: Json = {},
): Promise<string> {
  return makeProvider(server, own, { issuer: openid.issuer, client_id: openid.clientId, ...fields });
}

/** Asks to be authenticated; answers the request's id. */
export async function ask(server: Reached, visitor: TestVisitor, body: Json): Promise<string> {
  const answer = await call(server, 'POST /visitor_authentication/requests', { token: visitor.token, body });
  return expectStatus(answer, 202).body.id;
}

/** How a request was decided, once it is: `succeeded`, or why not. Exactly one event has told of it. */
export async function outcome(server: Reached, visitor: TestVisitor, id: string, patienceMs = 8_000): Promise<string> {
  let found: Json = null;
  await until(async () => {
    const path = `GET /visitor_authentication/requests/${id}`;
    found = expectStatus(await call(server, path, { token: visitor.token }), 200).body;
    return found.state !== 'pending';
  }, patienceMs);
  const [event, ...more] = await eventsOfRequest(server, id);
  assert.equal(more.length, 0);
  assert.equal(event?.event_type, `visitor.authentication.${found.state === 'succeeded' ? 'success' : 'failure'}`);
  assert.equal(event?.authentication_response.fail_reason ?? null, found.fail_reason);
  return found.fail_reason ?? found.state;
}

export async function authenticate(server: Reached, visitor: TestVisitor, body: Json): Promise<string> {
  return outcome(server, visitor, await ask(server, visitor, body));
}

/** As they lie in the log. */
export async function eventsOfRequest({ database: { sql } }: Reached, id: string): Promise<Json[]> {
  const rows = await sql<{ payload: Json }[]>`
    SELECT payload FROM events WHERE payload -> 'authentication_response' ->> 'authentication_request_id' = ${id}`;
  return rows.map(({ payload }) => payload);
}
