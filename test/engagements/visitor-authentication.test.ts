import assert from 'node:assert/strict';
import { createHash, createPublicKey, randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { SignJWT, type JWTPayload } from 'jose';
import { dropExpiredSecrets, revealEvent } from '../../packages/server/src/events/event-secrets.ts';
import { Sealer } from '../../packages/server/src/identity/sealer.ts';
import { sendProof, authenticate, eventsOfRequest, outcomeOf, addProvider } from '../support/people/authentication.ts';
import { engage } from '../support/people/chat.ts';
import { openFeed } from '../support/people/feed.ts';
import { forThisFile, openWorld } from '../support/fixture.ts';
import { TestOpenid, type Claims } from '../support/services/openid.ts';
import { call, type Json } from '../support/server.ts';
import { eventsOf, expectStatus, makeAccount, makeSite, makeVisitor } from '../support/world.ts';

const { server, account: own } = await openWorld();
const openid = await forThisFile(new TestOpenid().start());
const provider = await addProvider(server, own, openid, {
  redirect_uris: ['https://app.example/back', 'app:/back'],
});

const now = (): number => Math.floor(Date.now() / 1000);

async function tryToken(id_token: string, more: Json = {}): Promise<string> {
  return authenticate(server, await makeVisitor(server, own), { provider_id: provider, id_token, ...more });
}

test('a valid token authenticates the visitor, renews their token and sends the event', async () => {
  const visitor = await makeVisitor(server, own);
  const claims = {
    name: 'Ada',
    preferred_username: 'ada.l',
    email: 'ada@example.com',
    email_verified: true,
    nonce: 'n1',
  };
  const id_token = await openid.idToken(claims);
  const id = await sendProof(server, visitor, { provider_id: provider, id_token, nonce: 'n1' });
  assert.equal(await outcomeOf(server, visitor, id), 'succeeded');

  const path = `GET /sites/${own.siteId}/visitors/${visitor.id}`;
  const { body: known } = await call(server, path, { token: visitor.token });
  assert.deepEqual([known.name, known.email, known.external_id], ['Ada', 'ada@example.com', `${openid.issuer}|ada`]);
  const [stored] = await eventsOfRequest(server, id);
  const open = {
    name: 'Ada',
    preferred_name: 'ada.l',
    email: 'ada@example.com',
    issuer: openid.issuer,
    subject: 'ada',
  };
  const about = { authentication_request_id: id, visitor_id: visitor.id };
  assert.deepEqual(stored.authentication_response, { ...about, access_token: '', ...open, id_token: null });

  const sealer = new Sealer(server.database.sql);
  const event = { id: stored.event_id, type: 'visitor.authentication.success', payload: stored } as const;
  const revealed: Json = await revealEvent(server.database.sql, sealer, event);
  const { access_token, ...rest } = revealed.authentication_response;
  assert.deepEqual(rest, { ...about, ...open, id_token });
  assert.deepEqual(Object.keys(revealed.authentication_response), Object.keys(stored.authentication_response));
  const again = expectStatus(await call(server, path, { token: access_token }), 200).body;
  assert.equal(again.id, visitor.id);
  assert.notEqual(access_token, visitor.token);
});

test('no secret is readable in tables, logs or answers, and secrets are deleted after a day', async () => {
  const account = await makeAccount(server);
  const secret = 'a client secret that nobody may read';
  const verifier = randomUUID().repeat(2);
  const toldprovider = await addProvider(server, account, openid, {
    client_secret: secret,
    redirect_uris: ['app:/back'],
  });
  const visitor = await makeVisitor(server, account);
  const id_token = await openid.idToken();
  const first = await sendProof(server, visitor, { provider_id: toldprovider, id_token });
  const code = openid.grant(verifier, 'app:/back');
  const proof = { code, code_verifier: verifier, redirect_uri: 'app:/back' };
  const second = await sendProof(server, visitor, { provider_id: toldprovider, ...proof });
  assert.equal(await outcomeOf(server, visitor, first), 'succeeded');
  assert.equal(await outcomeOf(server, visitor, second), 'succeeded');

  const path = `GET /sites/${account.siteId}/visitor_authentication_providers`;
  const { body: shown } = await call(server, `${path}/${toldprovider}`, { token: account.admin });
  assert.equal(shown.has_client_secret, true);
  const { sql } = server.database;
  const tables = ['events', 'event_secrets', 'visitor_authentication_providers', 'visitor_authentication_requests'];
  const dumps = await Promise.all(
    [...tables, 'used_id_tokens'].map(async (table) =>
      (await sql`SELECT * FROM ${sql(table)}`).map((row) => ({ ...row })),
    ),
  );
  const everything = [
    JSON.stringify(dumps, (_key, value) =>
      value?.type === 'Buffer' ? Buffer.from(value.data).toString('latin1') : value,
    ),
    JSON.stringify([shown, (await call(server, path, { token: account.admin })).body]),
    server.logged.join(''),
  ].join('\n');
  for (const hidden of [secret, id_token, code, verifier, id_token.split('.')[2]])
    assert.ok(hidden !== undefined && !everything.includes(hidden));
  assert.ok(dumps.flat().every((row) => !('proof' in row) || row['proof'] === null));

  const [late] = await sql`SELECT max(expires_at) <= now() + interval '24 hours' AS soon FROM event_secrets`;
  assert.equal(late?.['soon'], true);
  const [stored] = await eventsOfRequest(server, first);
  const event = { id: stored.event_id, type: 'visitor.authentication.success', payload: stored } as const;
  // Less than a millisecond may pass until the Date below, which has whole milliseconds.
  await sql`
    UPDATE event_secrets SET expires_at = now() - interval '1 millisecond' WHERE event_id = ${stored.event_id}`;
  assert.deepEqual(await revealEvent(sql, new Sealer(sql), event), stored);
  await dropExpiredSecrets(sql, new Date(), () => true);
  assert.equal((await sql`SELECT 1 FROM event_secrets WHERE event_id = ${stored.event_id}`).length, 0);
});

test('a sealed text can be opened only unchanged and for its own purpose, in any process', async () => {
  const { sql } = server.database;
  const sealer = new Sealer(sql);
  const sealed = (await sealer.seal())('ä secret', 'one');
  assert.equal(await new Sealer(sql).open(sealed, 'one'), 'ä secret');
  await assert.rejects(sealer.open(sealed, 'two'), /unable to authenticate/i);
  const changed = Buffer.from(sealed);
  changed.writeUInt8(changed.readUInt8(changed.length - 1) ^ 1, changed.length - 1);
  await assert.rejects(sealer.open(changed, 'one'), /unable to authenticate/i);
  // Another process creates a key; this one has not seen the key, and opens what was sealed with it.
  await sql`INSERT INTO sealing_keys (id, key) VALUES (${randomUUID()}, ${Buffer.alloc(32, 7)})`;
  const other = (await new Sealer(sql).seal())('x', 'one');
  assert.notDeepEqual(other.subarray(0, 16), sealed.subarray(0, 16));
  assert.equal(await sealer.open(other, 'one'), 'x');
});

test('each kind of invalid token fails with the right reason', async (t) => {
  const wrong: Record<string, readonly [reason: string, token: () => Promise<string>]> = {
    expired: ['token_expired', async () => openid.idToken({ exp: now() - 90, iat: now() - 400 })],
    'issued too long ago': ['token_expired', async () => openid.idToken({ iat: now() - 25 * 3600, exp: now() + 900 })],
    'not valid yet': ['token_not_yet_valid', async () => openid.idToken({ nbf: now() + 90 })],
    'issued in the future': ['token_not_yet_valid', async () => openid.idToken({ iat: now() + 90, exp: now() + 900 })],
    'of a foreign issuer': ['wrong_issuer', async () => openid.idToken({ iss: 'https://other.example' })],
    'of an issuer with an additional slash': ['wrong_issuer', async () => openid.idToken({ iss: `${openid.issuer}/` })],
    'for a foreign audience': ['wrong_audience', async () => openid.idToken({ aud: 'other' })],
    'for several audiences without azp': [
      'wrong_audience',
      async () => openid.idToken({ aud: [openid.clientId, 'b'] }),
    ],
    'for several audiences with another azp': [
      'wrong_audience',
      async () => openid.idToken({ aud: [openid.clientId, 'b'], azp: 'b' }),
    ],
    unsigned: ['unsigned', async () => unsigned(openid.claims())],
    'signed with the public key as a secret': ['algorithm_not_allowed', async () => signedWithPublicKey()],
    'signed with an unknown key': ['unknown_key', async () => openid.idToken({}, { kid: 'unknown' })],
    'signed with another key': ['bad_signature', async () => signedByAnother()],
    tampered: ['bad_signature', async () => tampered(await openid.idToken())],
    'without a signature': ['bad_signature', async () => (await openid.idToken()).replace(/[^.]*$/, '')],
    'an access token': ['malformed_token', async () => openid.idToken({}, { typ: 'at+jwt' })],
    nonsense: ['malformed_token', async () => 'nonsense'],
    'nonsense in three parts': ['malformed_token', async () => 'a.b.c'],
    'with an unknown critical extension': ['algorithm_not_allowed', async () => critical()],
    'without an expiry': ['missing_claim', async () => openid.idToken({ exp: undefined })],
    'without iat': ['missing_claim', async () => openid.idToken({ iat: undefined })],
    'without a subject': ['missing_claim', async () => openid.idToken({ sub: undefined })],
    'with an empty subject': ['missing_claim', async () => openid.idToken({ sub: '' })],
    'with a subject that cannot be stored': ['missing_claim', async () => openid.idToken({ sub: 'a\0b' })],
    'with a subject that is too long': ['missing_claim', async () => openid.idToken({ sub: 'a'.repeat(256) })],
    'with an expiry that is not a number': ['missing_claim', async () => openid.idToken({ exp: 'soon' })],
    'with an unexpected nonce': ['nonce_mismatch', async () => openid.idToken({ nonce: 'n' })],
  };
  for (const [title, [reason, token]] of Object.entries(wrong))
    await t.test(title, async () => assert.equal(await tryToken(await token()), reason));
  await t.test('with another nonce', async () => {
    assert.equal(await tryToken(await openid.idToken({ nonce: 'n' }), { nonce: 'm' }), 'nonce_mismatch');
    assert.equal(await tryToken(await openid.idToken(), { nonce: 'm' }), 'nonce_mismatch');
  });
});

function unsigned(claims: JWTPayload): string {
  const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  return `${part({ alg: 'none', typ: 'JWT' })}.${part(claims)}.`;
}

async function signedWithPublicKey(): Promise<string> {
  const pem = createPublicKey({ key: { ...openid.publicJwk }, format: 'jwk' }).export({ type: 'spki', format: 'pem' });
  return new SignJWT(openid.claims())
    .setProtectedHeader({ alg: 'HS256', kid: String(openid.publicJwk.kid) })
    .sign(Buffer.from(pem));
}

async function signedByAnother(): Promise<string> {
  const other = await new TestOpenid().start();
  await other.stop();
  return other.idToken({ iss: openid.issuer }, { kid: openid.publicJwk.kid });
}

function tampered(token: string): string {
  const [header, , signature] = token.split('.');
  const claims = Buffer.from(JSON.stringify(openid.claims({ sub: 'eve' }))).toString('base64url');
  return [header, claims, signature].join('.');
}

async function critical(): Promise<string> {
  const [, claims, signature] = (await openid.idToken()).split('.');
  const header = { alg: 'RS256', kid: openid.publicJwk.kid, crit: ['x'], x: 1 };
  return [Buffer.from(JSON.stringify(header)).toString('base64url'), claims, signature].join('.');
}

test('tokens within the leeway, with several audiences and with any asymmetric algorithm are valid', async () => {
  assert.equal(await tryToken(await openid.idToken({ exp: now() - 30, iat: now() - 300 })), 'succeeded');
  assert.equal(await tryToken(await openid.idToken({ nbf: now() + 30, iat: now() + 30 })), 'succeeded');
  const aud = [openid.clientId, 'other'];
  assert.equal(await tryToken(await openid.idToken({ aud, azp: openid.clientId })), 'succeeded');
  for (const alg of ['PS256', 'ES256', 'ES384', 'EdDSA']) {
    const other = await new TestOpenid().start();
    await other.rotate(alg);
    const provider_id = await addProvider(server, own, other);
    const visitor = await makeVisitor(server, own);
    assert.equal(
      await authenticate(server, visitor, { provider_id, id_token: await other.idToken() }),
      'succeeded',
      alg,
    );
    await other.stop();
  }
});

test('D9.11 a token works once: not for another visitor, not concurrently, not on another site', async () => {
  const token = await openid.idToken();
  assert.equal(await tryToken(token), 'succeeded');
  assert.equal(await tryToken(token), 'token_replayed');
  assert.equal(await tryToken(await openid.idToken({ jti: 'same' })), 'succeeded');
  assert.equal(await tryToken(await openid.idToken({ jti: 'same', name: 'Other' })), 'token_replayed');
  for (const name of ['One', 'Two']) assert.equal(await tryToken(await openid.idToken({ jti: '', name })), 'succeeded');
  const nameless = await openid.idToken({ jti: undefined });
  const many = await Promise.all(Array.from({ length: 8 }, async () => tryToken(nameless)));
  assert.deepEqual(many.toSorted(), ['succeeded', ...Array.from({ length: 7 }, () => 'token_replayed')]);

  const site = await makeSite(server, own);
  const provider_id = await addProvider(server, { ...own, siteId: site }, openid);
  const visitor = await makeVisitor(server, own, site);
  assert.equal(await authenticate(server, visitor, { provider_id, id_token: token }), 'token_replayed');
});

test('the visitor gets the name and a verified address, and an external_id set by API stays', async () => {
  const become = async (claims: Claims, before: Json = {}): Promise<Json> => {
    const visitor = await makeVisitor(server, own);
    const path = `/sites/${own.siteId}/visitors/${visitor.id}`;
    expectStatus(await call(server, `PATCH ${path}`, { token: own.admin, body: before }), 200);
    const id_token = await openid.idToken(claims);
    assert.equal(await authenticate(server, visitor, { provider_id: provider, id_token }), 'succeeded');
    const { name, email, external_id } = (await call(server, `GET ${path}`, { token: own.admin })).body;
    return { name, email, external_id };
  };
  const ours = `${openid.issuer}|ada`;
  const had = { name: 'Before', email: 'before@example.com', external_id: 'crm-1' };
  assert.deepEqual(await become({}, had), had);
  assert.deepEqual(
    await become({ email: 'a@b.c', email_verified: false }, { ...had, external_id: `${openid.issuer}|eve` }),
    {
      ...had,
      external_id: ours,
    },
  );
  const odd = { name: 5, email: 'nowhere' };
  assert.deepEqual(await become(odd), { name: null, email: null, external_id: ours });
  const long = await become({ name: 'n'.repeat(300), sub: 's'.repeat(250), email: 'a\0@b.c' });
  assert.deepEqual(long, { name: 'n'.repeat(255), email: null, external_id: null });
  assert.equal((await become({ name: `${'n'.repeat(254)}😀` })).name, null);
});

const redirect_uri = 'https://app.example/back';

test('a code is exchanged for a token, with its verifier and the client’s authentication', async (t) => {
  const verifier = `${randomUUID()}${randomUUID()}`;
  const exchange = async (given: { at?: string; change?: Json; claims?: Claims } = {}): Promise<string> => {
    const code = openid.grant(verifier, redirect_uri, given.claims);
    const body = { provider_id: given.at ?? provider, code, redirect_uri, code_verifier: verifier, ...given.change };
    return authenticate(server, await makeVisitor(server, own), body);
  };
  await t.test('without a secret', async () => {
    assert.equal(await exchange(), 'succeeded');
    const { authorization, fields } = openid.tokenRequests.at(-1) ?? {};
    assert.deepEqual([authorization, fields?.['client_id']], [undefined, openid.clientId]);
    assert.deepEqual([fields?.['grant_type'], fields?.['code_verifier']], ['authorization_code', verifier]);
  });
  const client_secret = 's p€c:ial/&';
  await t.test('with a secret in the header', async () => {
    const at = await addProvider(server, own, openid, { client_secret, redirect_uris: [redirect_uri] });
    assert.equal(await exchange({ at }), 'succeeded');
    const { authorization, fields } = openid.tokenRequests.at(-1) ?? {};
    const pair = Buffer.from(authorization?.replace(/^Basic /, '') ?? '', 'base64').toString();
    assert.equal(pair, `${openid.clientId}:s+p%E2%82%ACc%3Aial%2F%26`);
    assert.ok(!('client_secret' in (fields ?? {})));
  });
  await t.test('with a secret in the body, if the provider supports only that', async () => {
    openid.metadata = { token_endpoint_auth_methods_supported: ['client_secret_post'] };
    const at = await addProvider(server, own, openid, { client_secret, redirect_uris: [redirect_uri] });
    assert.equal(await exchange({ at }), 'succeeded');
    const { authorization, fields } = openid.tokenRequests.at(-1) ?? {};
    assert.deepEqual([authorization, fields?.['client_secret']], [undefined, client_secret]);
    openid.metadata = { token_endpoint_auth_methods_supported: ['private_key_jwt'] };
    const other = await addProvider(server, own, openid, { client_secret, redirect_uris: [redirect_uri] });
    assert.equal(await exchange({ at: other }), 'provider_misconfigured');
    openid.metadata = {};
  });
  await t.test('a wrong verifier, a used code and a foreign code are rejected', async () => {
    assert.equal(await exchange({ change: { code_verifier: 'x'.repeat(43) } }), 'code_rejected');
    const code = openid.grant(verifier, redirect_uri);
    assert.equal(await exchange({ change: { code } }), 'succeeded');
    assert.equal(await exchange({ change: { code } }), 'code_rejected');
    assert.equal(await exchange({ change: { code: 'made up' } }), 'code_rejected');
    assert.equal(await exchange({ change: { redirect_uri: 'app:/back' } }), 'code_rejected');
  });
  await t.test('the token of the exchange is checked like any other', async () => {
    assert.equal(await exchange({ claims: { aud: 'other' } }), 'wrong_audience');
    assert.equal(await exchange({ claims: { nonce: 'n' } }), 'nonce_mismatch');
    assert.equal(await exchange({ claims: { nonce: 'n' }, change: { nonce: 'n' } }), 'succeeded');
  });
});

test('invalid requests are refused at once', async () => {
  const visitor = await makeVisitor(server, own);
  const refuse = async (body: Json): Promise<string[]> => {
    const answer = await call(server, 'POST /visitor_authentication/requests', { token: visitor.token, body });
    return expectStatus(answer, 422).body.details.map(({ attribute }: Json) => attribute);
  };
  const code_verifier = 'v'.repeat(43);
  const provider_id = provider;
  const byCode = { provider_id, code: 'c', redirect_uri, code_verifier };
  assert.deepEqual(await refuse({}), ['/id_token', '/provider_id']);
  assert.deepEqual(await refuse({ provider_id }), ['/id_token']);
  assert.deepEqual(await refuse({ provider_id, code: 'c' }), ['/redirect_uri', '/code_verifier']);
  assert.deepEqual(await refuse({ ...byCode, id_token: 't' }), ['/code', '/redirect_uri', '/code_verifier']);
  assert.deepEqual(await refuse({ ...byCode, code_verifier: 'v'.repeat(42) }), ['/code_verifier']);
  assert.deepEqual(await refuse({ ...byCode, redirect_uri: 'https://app.example/back/' }), ['/redirect_uri']);
  assert.deepEqual(await refuse({ ...byCode, provider_id: randomUUID() }), ['/provider_id']);
  assert.deepEqual(await refuse({ provider_id, id_token: 't'.repeat(16_385) }), ['/id_token']);
  assert.deepEqual(await refuse({ provider_id, id_token: 5 }), ['/id_token']);
  const stranger = await makeAccount(server);
  const foreign = await addProvider(server, stranger, openid);
  assert.deepEqual(await refuse({ provider_id: foreign, id_token: 't' }), ['/provider_id']);
  assert.deepEqual(await eventsOf(server, stranger), []);

  const id = await sendProof(server, visitor, { provider_id, id_token: 'none' });
  const other = await makeVisitor(server, own);
  expectStatus(await call(server, `GET /visitor_authentication/requests/${id}`, { token: other.token }), 404);
});

test('requests with the same Idempotency-Key make one request', async () => {
  const visitor = await makeVisitor(server, own);
  const body = { provider_id: provider, id_token: await openid.idToken() };
  const headers = { 'idempotency-key': createHash('sha256').update(visitor.id).digest('hex') };
  const send = async () =>
    call(server, 'POST /visitor_authentication/requests', { token: visitor.token, body, headers });
  const [first, second] = await Promise.all([send(), send()]);
  assert.equal(expectStatus(first, 202).body.id, expectStatus(second, 202).body.id);
  assert.equal(await outcomeOf(server, visitor, first.body.id), 'succeeded');
});

test('the operator of an engagement gets a message; only the visitor gets the new token', async () => {
  const chat = await engage(server);
  const { operator, visitor } = chat;
  const its = await addProvider(server, chat.own, openid);
  await using ofVisitor = await openFeed(server, { token: visitor.token });
  await using ofManager = await openFeed(server, { token: chat.own.admin });
  await using ofOperator = await openFeed(server, { token: operator.token });
  const id_token = await openid.idToken({ name: 'Ada' });
  const id = await sendProof(server, visitor, { provider_id: its, id_token });
  assert.equal(await outcomeOf(server, visitor, id), 'succeeded');
  const { data } = await ofOperator.untilType('engagement.chat.system_message');
  assert.deepEqual([data.message.type, data.message.sender], ['visitor_authentication', { type: 'system' }]);
  const success = 'visitor.authentication.success';
  const response = (await ofVisitor.untilType(success)).data.authentication_response;
  assert.equal(response.id_token, id_token);
  const renewed = { token: response.access_token };
  expectStatus(await call(server, `GET /sites/${chat.own.siteId}/visitors/${visitor.id}`, renewed), 200);
  const others = (await ofManager.untilType(success)).data.authentication_response;
  assert.deepEqual([others.access_token, others.id_token], ['', null]);
  await using back = await openFeed(server, { token: visitor.token, lastId: ofVisitor.items[0]?.id ?? '' });
  assert.equal((await back.untilType(success)).data.authentication_response.access_token, response.access_token);
  assert.equal(ofVisitor.items.filter(({ type }) => type === 'engagement.chat.system_message').length, 0);
  assert.equal(ofOperator.items.filter(({ type }) => type === success).length, 0);
});
