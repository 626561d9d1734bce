import assert from 'node:assert/strict';
import { call, until, type Json } from '../server.ts';
import { expectStatus, makeProvider, type ServerHandle, type TestAccount, type TestVisitor } from '../world.ts';
import type { TestOpenid } from '../services/openid.ts';

/** Registers the identity provider with the account's site. */
export async function addProvider(
  server: ServerHandle,
  own: TestAccount,
  openid: TestOpenid,
  fields: Json = {},
): Promise<string> {
  return makeProvider(server, own, { issuer: openid.issuer, client_id: openid.clientId, ...fields });
}

/** Creates an authentication request with the proof of a visitor. Returns its id. */
export async function sendProof(server: ServerHandle, visitor: TestVisitor, body: Json): Promise<string> {
  const answer = await call(server, 'POST /visitor_authentication/requests', { token: visitor.token, body });
  return expectStatus(answer, 202).body.id;
}

/** Waits until the request is decided. Returns `succeeded` or the reason of the failure, and asserts that there is exactly one event. */
export async function outcomeOf(
  server: ServerHandle,
  visitor: TestVisitor,
  id: string,
  timeoutMs?: number,
): Promise<string> {
  let request: Json = null;
  await until(async () => {
    const path = `GET /visitor_authentication/requests/${id}`;
    request = expectStatus(await call(server, path, { token: visitor.token }), 200).body;
    return request.state !== 'pending';
  }, timeoutMs);
  const [event, ...more] = await eventsOfRequest(server, id);
  assert.equal(more.length, 0);
  assert.equal(event?.event_type, `visitor.authentication.${request.state === 'succeeded' ? 'success' : 'failure'}`);
  assert.equal(event?.authentication_response.fail_reason ?? null, request.fail_reason);
  return request.fail_reason ?? request.state;
}

export async function authenticate(server: ServerHandle, visitor: TestVisitor, body: Json): Promise<string> {
  return outcomeOf(server, visitor, await sendProof(server, visitor, body));
}

/** The events about an authentication request, as stored in the log. */
export async function eventsOfRequest({ database: { sql } }: ServerHandle, id: string): Promise<Json[]> {
  const rows = await sql<{ payload: Json }[]>`
    SELECT payload FROM events WHERE payload -> 'authentication_response' ->> 'authentication_request_id' = ${id}`;
  return rows.map(({ payload }) => payload);
}
