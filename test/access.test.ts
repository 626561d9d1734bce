import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { importJWK, SignJWT, type JWK } from 'jose';
import type { DeclaredAccess } from '../packages/server/src/identity/access.ts';
import type { Role } from '../packages/server/src/identity/caller.ts';
import type { SiteId } from '../packages/server/src/platform/ids.ts';
import { call, startTestServer, type Json, type TestServer } from './support/server.ts';
import { fill, makeWebhook as insertWebhook } from './support/deliveries.ts';
import { expected, kinds, type CallerKind } from './support/expected-access.ts';
import { fileForm } from './support/files.ts';
import { makeSignedIn, newInvitation } from './support/sign-in.ts';
import { makeWebhook, webhookFields } from './support/webhooks.ts';
import { newNumber, signedForm, startCarrier, type TestCarrier } from './support/carrier.ts';
import {
  expectStatus,
  makeAccount,
  makeApplicationToken,
  makeOperator,
  makePolicy,
  makePresent,
  makeProvider,
  makeQueue,
  makeSite,
  makeTeam,
  makeVisitor,
  policyFields,
  providerFields,
  queueFields,
  type TestAccount,
  type TestOperator,
} from './support/world.ts';

/**
 * Every route × every kind of caller. What is expected follows from what the route declares; the route is asked with a
 * request that would succeed, so that a refusal is a refusal of the caller.
 */
let carrier: TestCarrier;
let server: TestServer;
let account: TestAccount;
let stranger: TestAccount;
let otherSite: SiteId;
let staff: Record<Role | 'elsewhere', TestOperator>;
let applications: Record<'publishable' | 'secret', string>;

before(async () => {
  carrier = await startCarrier();
  server = await startTestServer({ scanner: { kind: 'manual' }, twilio: carrier.settings, trustProxy: true });
  account = await makeAccount(server);
  stranger = await makeAccount(server);
  otherSite = await makeSite(server, account);
  const on = async (site_id: string, role: Role): Promise<TestOperator> =>
    makeOperator(server, account, [{ site_id, role }]);
  staff = {
    operator: await on(account.siteId, 'operator'),
    manager: await on(account.siteId, 'manager'),
    super_manager: await on(account.siteId, 'super_manager'),
    elsewhere: await on(otherSite, 'super_manager'),
  };
  applications = {
    publishable: (await makeApplicationToken(server, account, 'publishable')).header,
    secret: (await makeApplicationToken(server, account, 'secret')).header,
  };
});
after(async () => {
  await server[Symbol.asyncDispose]();
  await carrier[Symbol.asyncDispose]();
});

/** Things to name in a request, made anew where a request that succeeds may use them up. */
interface Targets {
  readonly ids: Readonly<Record<string, string>>;
  readonly visitorToken: string;
}

/** Makes an id for each parameter of the route's address. What only those who take part may touch, the caller takes part in. */
async function makeTargets({ method, url }: DeclaredAccess, kind: CallerKind): Promise<Targets> {
  const visitor = await makeVisitor(server, account);
  const ids: Record<string, string> = { site_id: account.siteId, visitor_id: visitor.id };
  if (url.includes(':name')) ids['name'] = url.startsWith('/demo') ? 'demo.js' : await consoleAsset();
  if (url.includes(':team_id')) ids['team_id'] = await makeTeam(server, account, account.siteId);
  if (url.includes(':token_id')) ids['token_id'] = (await makeApplicationToken(server, account, 'publishable')).id;
  if (url.includes(':operator_id')) {
    const target = await makeOperator(server, account, [{ site_id: account.siteId, role: 'operator' }]);
    Object.assign(ids, { operator_id: target.id, key_id: target.keyId });
  }
  const self = kind === 'stranger' ? stranger.adminId : kind in staff ? staff[kind as Role].id : account.adminId;
  Object.assign(ids, await makeSignedIn(server, account, { url, self, operatorId: ids['operator_id'] ?? '' }));
  if (url.includes(':queue_id')) ids['queue_id'] = await makeQueue(server, account);
  if (url.includes(':scheduling_policy_id')) ids['scheduling_policy_id'] = await makePolicy(server, account);
  if (url.includes(':channel_id')) {
    const [, collection = ''] = url.split('/');
    const body = bodies[`POST /${collection}`]?.({}, 'manager');
    const made = await call(server, `POST /${collection}`, { token: account.admin, body: await body });
    ids['channel_id'] = expectStatus(made, 201).body.id;
  }
  if (url.includes('visitor_authentication')) {
    // A site may have so many of them only.
    await server.database.sql`DELETE FROM visitor_authentication_providers`;
    ids['provider_id'] = await makeProvider(server, account);
  }
  if (url.includes(':authentication_request_id')) {
    const body = { provider_id: ids['provider_id'], id_token: 'none' };
    const made = await call(server, 'POST /visitor_authentication/requests', { token: visitor.token, body });
    ids['authentication_request_id'] = expectStatus(made, 202).body.id;
  }
  if (url.includes(':sip_domain_id')) {
    const body = bodies['POST /sip_domains']?.({}, 'manager');
    const made = await call(server, 'POST /sip_domains', { token: account.admin, body });
    ids['sip_domain_id'] = expectStatus(made, 201).body.id;
  }
  if (`${method} ${url}` === 'PATCH /sample_data') {
    for (const { admin } of [account, stranger]) await call(server, 'POST /sample_data', { token: admin });
  }
  Object.assign(ids, await makeDelivered(url));
  if (/\/webhooks(?!.*\/(deliveries|recover))/.test(url)) {
    // An account may have so many of them only.
    await server.database.sql`DELETE FROM webhooks`;
    ids['webhook_id'] = (await makeWebhook(server, account, { site_ids: [account.siteId] })).id;
  }
  const participant = kind === 'manager' || kind === 'super_manager' ? staff[kind] : staff.operator;
  Object.assign(ids, await makeRouted(`${method} ${url}`, participant, visitor, kind));
  return { ids, visitorToken: visitor.token };
}

/** A webhook of the site, a delivery and a recovery, where the route is about one. */
async function makeDelivered(url: string): Promise<Record<string, string>> {
  if (!url.includes(':webhook_id') && !url.includes(':delivery_id')) return {};
  const webhook = await insertWebhook(server, account);
  const [delivery_id = ''] = await fill(server.database.sql, webhook, 'exhausted', { count: 1 });
  const recovery_id = randomUUID();
  await server.database.sql`
    INSERT INTO webhook_recoveries (id, account_id, webhook_id, since)
    VALUES (${recovery_id}, ${webhook.accountId}, ${webhook.id}, now())`;
  return { webhook_id: webhook.id, delivery_id, recovery_id };
}

/** Tickets, requests, engagements and transfers, where the route is about one. */
async function makeRouted(
  route: string,
  operator: TestOperator,
  visitor: { id: string; token: string },
  kind: CallerKind,
): Promise<Record<string, string>> {
  const ask = async (path: string, token: string, body: Json): Promise<Json> =>
    expectStatus(await call(server, `POST ${path}`, { token, body: { site_id: account.siteId, ...body } }), 201).body;
  if (route.includes('queue_tickets')) {
    const queue = await makeQueue(server, account, { when_unstaffed: 'accept', routing_policy: { media: ['video'] } });
    if (!route.includes(':ticket_id')) return { queue_id: queue };
    return { ticket_id: (await ask('/queue_tickets', visitor.token, { media: 'video', queue_id: queue })).id };
  }
  const isAbout = (noun: string): boolean => route.includes(noun);
  if (!['engagement_requests/', 'engagements/:', 'transfer_', '/files/:'].some(isAbout)) return {};
  await freeEverybody();
  const request = await ask('/engagement_requests', operator.token, { media: 'text', visitor_id: visitor.id });
  if (isAbout('engagement_requests/')) return { request_id: request.id };
  const accepted = await call(server, `PATCH /engagement_requests/${request.id}`, {
    token: visitor.token,
    body: { action: 'accept' },
  });
  const { engagement_id } = expectStatus(accepted, 200).body;
  if (isAbout('transfer_')) return makeTransfer(route, operator, engagement_id);
  if (isAbout(':file_id')) return { engagement_id, file_id: await makeFile(route, visitor.token, engagement_id) };
  return { engagement_id, ...(await makeInside(route, engagement_id, kind === 'visitor' ? operator : visitor)) };
}

/** Something of an engagement that the caller may answer, as it comes from the other side. */
async function makeInside(
  route: string,
  engagement: string,
  other: { readonly token: string },
): Promise<Record<string, string>> {
  const message_id = randomUUID();
  const base = `/engagements/${engagement}`;
  if (route.startsWith('PATCH') && route.includes(':message_id')) {
    const body = { content: 'Hello' };
    expectStatus(await call(server, `PUT ${base}/chat_messages/${message_id}`, { token: other.token, body }), 200);
  }
  if (!route.includes(':upgrade_id')) return { message_id };
  const body = { audio: 'two_way', video: null };
  const upgrade = await call(server, `POST ${base}/media_upgrade_requests`, { token: other.token, body });
  return { upgrade_id: expectStatus(upgrade, 201).body.id };
}

/** A file; where it is to be downloaded, one that was found clean. */
async function makeFile(route: string, token: string, engagement: string): Promise<string> {
  const sent = await call(server, `POST /engagements/${engagement}/files`, { token, body: fileForm('Hello') });
  const { file_id } = expectStatus(sent, 200).body;
  if (route.startsWith('PUT')) return file_id;
  const path = `PUT /files/${file_id}/security_scan`;
  expectStatus(await call(server, path, { token: account.admin, body: { result: 'clean' } }), 200);
  return file_id;
}

async function makeTransfer(
  route: string,
  operator: TestOperator,
  engagement_id: string,
): Promise<Record<string, string>> {
  const target = await makePresent(server, account, { media: ['text'] });
  const queue = await makeQueue(server, account, { when_unstaffed: 'accept', routing_policy: { media: ['video'] } });
  const given = { engagement_id, operator_id: target.id, queue_id: queue };
  if (!route.includes('/:')) return given;
  const isTicket = route.includes('transfer_tickets');
  const { operator_id, queue_id } = given;
  const body = isTicket ? { engagement_id, queue_id, media: 'video' } : { engagement_id, operator_id };
  const path = isTicket ? '/transfer_tickets' : '/transfer_requests';
  const { id } = expectStatus(await call(server, `POST ${path}`, { token: operator.token, body }), 201).body;
  return { [isTicket ? 'ticket_id' : 'request_id']: id, ...given };
}

/** Ends what earlier calls have begun, so that operators have room for the next. */
async function freeEverybody(): Promise<void> {
  for (const { token } of Object.values(staff)) {
    const { body: list } = await call(server, `GET /engagements?site_ids[]=${account.siteId}&state=active`, { token });
    for (const { id, operator_id } of list.engagements ?? [])
      if (Object.values(staff).some((each) => each.id === operator_id && each.token === token))
        await call(server, `PATCH /engagements/${id}`, { token, body: { action: 'end' } });
    const { body: asked } = await call(server, 'GET /engagement_requests?state=pending', { token });
    for (const { id } of asked.engagement_requests)
      await call(server, `PATCH /engagement_requests/${id}`, { token, body: { action: 'cancel' } });
  }
}

let count = 0;
/** A valid body for each route that takes one. */
const bodies: Readonly<Record<string, (ids: Targets['ids'], kind: CallerKind) => unknown>> = {
  'POST /operator_authentication/tokens': () => credentials(),
  'POST /sites/tokens': () => credentials(),
  'POST /operator_authentication/sessions': () => credentials(),
  'POST /operator_authentication/sessions/current/token': () => ({}),
  'POST /operators/:operator_id/invitations': () => ({}),
  'POST /operator_authentication/invitations/preview': async () => ({
    invitation: await newInvitation(server, account),
  }),
  'POST /operator_authentication/invitations/accept': async () => ({
    invitation: await newInvitation(server, account),
    password: 'a lamp by the river',
  }),
  'PUT /operator_authentication/password': () => ({ new_password: 'a lamp by the river' }),
  'POST /operators/:operator_id/api_keys': () => ({}),
  'POST /sites/:site_id/application_tokens': () => ({ kind: 'secret' }),
  'POST /sites': () => ({ name: 'New' }),
  'PATCH /sites/:site_id': () => ({ name: 'Renamed' }),
  'POST /teams': () => ({ site_id: account.siteId, name: 'New' }),
  'PATCH /teams/:team_id': () => ({ name: 'Renamed' }),
  'POST /operators': () => ({ name: 'New', email: `new-${(count += 1)}@test` }),
  'PATCH /operators/:operator_id': () => ({ name: 'Renamed' }),
  'PUT /operators/:operator_id/presence': () => ({ available: true }),
  'POST /visitors': () => ({ site_id: account.siteId }),
  'POST /visitors/:visitor_id/token': () => undefined,
  'PATCH /sites/:site_id/visitors/:visitor_id': () => ({ name: 'Renamed' }),
  'PUT /visitors/:visitor_id/presence': () => ({ expires_in_sec: 60 }),
  'PATCH /visitors/:visitor_id': () => ({ site_id: otherSite }),
  'POST /queues/scheduling_policies': () => ({ site_id: account.siteId, ...policyFields }),
  'PUT /queues/scheduling_policies/:scheduling_policy_id': () => policyFields,
  'POST /queues/scheduling_policies/preview': () => {
    const { timezone, business_hours } = policyFields;
    return { site_id: account.siteId, timezone, business_hours };
  },
  'POST /queues/preview': () => ({ site_id: account.siteId, ...queueFields }),
  'POST /queues': () => ({ site_id: account.siteId, ...queueFields }),
  'PUT /queues/:queue_id': () => queueFields,
  'PATCH /queues/:queue_id/rankings': () => ({ operators: [] }),
  'POST /phone_channels': async () => ({
    site_id: account.siteId,
    number: `+1555${(count += 1) + 1_000_000}`,
    queue_id: await makeQueue(server, account),
  }),
  'PATCH /phone_channels/:channel_id': () => ({}),
  'POST /digital_channels': async () => ({
    site_id: account.siteId,
    kind: 'sms',
    address: `a${(count += 1)}`,
    queue_id: await makeQueue(server, account),
  }),
  'PATCH /digital_channels/:channel_id': () => ({}),
  'POST /queue_tickets': ({ queue_id }) => ({ site_id: account.siteId, media: 'video', queue_id }),
  'PATCH /queue_tickets/:ticket_id': () => ({ action: 'cancel' }),
  'POST /engagement_requests': async (_, kind) => {
    await freeEverybody();
    const target =
      kind === 'visitor' ? await makePresent(server, account, { media: ['text'] }) : await makeVisitor(server, account);
    return { site_id: account.siteId, media: 'text', operator_id: target.id, visitor_id: target.id };
  },
  'PATCH /engagement_requests/:request_id': (_, kind) => ({ action: kind === 'visitor' ? 'accept' : 'cancel' }),
  'PATCH /engagements/:engagement_id': () => ({ action: 'end' }),
  'PUT /engagements/:engagement_id/chat_messages/:message_id': () => ({ content: 'Hello' }),
  'PATCH /engagements/:engagement_id/chat_messages/:message_id': () => ({ status: 'delivered' }),
  'PUT /engagements/:engagement_id/typing_indicator': () => ({ typing: true }),
  'POST /engagements/:engagement_id/signals': () => ({ call_id: randomUUID(), kind: 'ready', data: null }),
  'POST /engagements/:engagement_id/system_messages': () => ({ content: 'News' }),
  'POST /engagements/:engagement_id/media_upgrade_requests': () => ({ audio: 'two_way', video: null }),
  'PATCH /engagements/:engagement_id/media_upgrade_requests/:upgrade_id': () => ({ action: 'decline' }),
  'POST /engagements/:engagement_id/events': () => ({ message: 'cart_opened' }),
  'POST /engagements/:engagement_id/files': () => fileForm('Hello'),
  'PUT /files/:file_id/security_scan': () => ({ result: 'clean' }),
  'POST /transfer_requests': ({ engagement_id, operator_id }) => ({ engagement_id, operator_id }),
  'PATCH /transfer_requests/:request_id': () => ({ action: 'cancel' }),
  'POST /transfer_tickets': ({ engagement_id, queue_id }) => ({ engagement_id, queue_id, media: 'video' }),
  'PATCH /transfer_tickets/:ticket_id': () => ({ action: 'cancel' }),
  'POST /sites/:site_id/visitor_authentication_providers': () => providerFields(),
  'POST /visitor_authentication/requests': ({ provider_id }) => ({ provider_id, id_token: 'none' }),
  'POST /sip_domains': () => ({ site_id: account.siteId, domain: `sip${(count += 1)}.example.com` }),
  'POST /webhooks': (_, kind) => ({ ...webhookFields, site_ids: [siteOf(kind)] }),
  'PUT /webhooks/:webhook_id': () => webhookFields,
  'POST /webhooks/:webhook_id/rotate_secret': () => ({}),
  'POST /webhooks/:webhook_id/test': () => ({ event_type: 'engagement.start' }),
  'POST /deliveries/:delivery_id/replay': () => ({}),
  'POST /webhooks/:webhook_id/recover': () => ({ since: '2027-01-01T00:00:00Z' }),
  'POST /outbound_sms': () => ({
    site_id: account.siteId,
    from_number: newNumber(),
    to_number: newNumber(),
    message: 'Hello?',
  }),
  'POST /sample_data': () => undefined,
  'POST /sample_data/receiver': () => ({}),
  'PATCH /sample_data': () => ({ action: 'stop' }),
  'POST /carriers/twilio/status': () => signedForm('status').body,
  'POST /carriers/twilio/inbound': () => signedForm('inbound').body,
};

/** A site of the caller's own, where it needs a role on some site. */
function siteOf(kind: CallerKind): SiteId {
  if (kind === 'stranger') return stranger.siteId;
  return kind === 'elsewhere' ? otherSite : account.siteId;
}

/** What a route is shown beside the token, or instead of one. */
const headers: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'POST /carriers/twilio/status': signedForm('status').headers,
  'POST /carriers/twilio/inbound': signedForm('inbound').headers,
};

/** What a route asks for in its query. */
const queries: Readonly<Record<string, () => string>> = {
  'GET /queues': () => `?site_ids[]=${account.siteId}`,
  'GET /engagements': () => `?site_ids[]=${account.siteId}`,
  'GET /queue_tickets': () => `?site_ids[]=${account.siteId}`,
  'GET /queues/stats': () => `?site_ids[]=${account.siteId}&from=2027-01-01T00:00:00Z&to=2027-01-02T00:00:00Z`,
  'GET /visitors': () => `?ids[]=${account.siteId}`,
  'GET /files': () => `?site_ids[]=${account.siteId}&state=pending`,
  'GET /queues/:queue_id/stats': () => '?from=2027-01-01T00:00:00Z&to=2027-01-02T00:00:00Z',
  'GET /webhooks/:webhook_id/stats': () => '?from=2027-01-01T00:00:00Z&to=2027-01-02T00:00:00Z',
  'GET /queues/scheduling_policies': () => `?site_ids[]=${account.siteId}`,
  'GET /queues/scheduling_policies/:scheduling_policy_id/preview': () =>
    '?from=2027-01-01T00:00:00Z&to=2027-01-02T00:00:00Z',
};

function credentials(): Json {
  return { api_key_id: account.key.id, api_key_secret: account.key.secret };
}

async function tokenOf(kind: CallerKind, targets: Targets): Promise<string | undefined> {
  switch (kind) {
    case 'nobody':
      return undefined;
    case 'garbage':
      return 'eyJhbGciOiJub25lIn0.e30.';
    case 'expired':
      return expiredToken();
    case 'visitor':
      return targets.visitorToken;
    case 'publishable':
    case 'secret':
      return applications[kind];
    case 'stranger':
      return stranger.admin;
    default:
      return staff[kind].token;
  }
}

async function expiredToken(): Promise<string> {
  const [row] = await server.database.sql<{ id: string; private_jwk: JWK }[]>`SELECT id, private_jwk FROM signing_keys`;
  assert.ok(row);
  const past = Math.floor(Date.now() / 1000) - 10;
  return new SignJWT({ account: '', kind: 'operator', key: account.key.id })
    .setProtectedHeader({ alg: 'EdDSA', kid: row.id })
    .setIssuer('usher')
    .setSubject(account.adminId)
    .setJti(crypto.randomUUID())
    .setExpirationTime(past)
    .sign(await importJWK(row.private_jwk, 'EdDSA'));
}

test('every route refuses and admits exactly whom it declares', async (t) => {
  const routes = server.app.declaredAccess.filter(({ method }) => method !== 'HEAD');
  assert.ok(routes.length > 25);
  for (const [index, route] of routes.entries()) {
    const name = `${route.method} ${route.url}`;
    await t.test(name, async () => {
      const needsBody = ['POST', 'PUT', 'PATCH'].includes(route.method);
      assert.ok(!needsBody || name in bodies, `say in this test what a valid body for ${name} is`);
      // Ending a session would end the caller for the routes that follow.
      const ends = name === 'DELETE /operator_authentication/sessions/current';
      let unused: Targets | null = null;
      for (const kind of kinds) {
        const wanted = expected(route.access, kind);
        // Who is refused leaves everything as it was; of strangers and staff some things are their own.
        const shares = wanted !== 'allowed' && kind !== 'stranger' && !(kind in staff);
        const targets: Targets = (shares ? unused : null) ?? (await makeTargets(route, kind));
        if (shares) unused = targets;
        const query = queries[name]?.() ?? '';
        const path = route.url.replaceAll(/:(\w+)/g, (_, id: string) => targets.ids[id] ?? 'unknown');
        const token = ends && wanted === 'allowed' ? await freshToken() : await tokenOf(kind, targets);
        const answer = await call(server, `${route.method} ${path}${query}`, {
          token,
          body: await bodies[name]?.(targets.ids, kind),
          headers: {
            ...headers[name],
            // From an address of its own: so many that are refused are too many for one.
            'x-forwarded-for': `10.0.0.${index}`,
            ...(targets.ids['cookie'] && { cookie: targets.ids['cookie'] }),
          },
        });
        // Whoever asks for the console without its last slash is sent there.
        const isAllowed = answer.status < 300 || (answer.status === 302 && name === 'GET /console');
        const found = isAllowed ? 'allowed' : answer.status;
        assert.equal(found, wanted, `${kind}: ${JSON.stringify(answer.body)}`);
        if (answer.status === 401) assert.equal(answer.headers.get('www-authenticate'), 'Bearer');
      }
    });
  }
});

/** A file that the console's page names. */
async function consoleAsset(): Promise<string> {
  const page = await fetch(`${server.url}/console/`);
  return /assets\/([\w.-]+)/.exec(await page.text())?.[1] ?? '';
}

async function freshToken(): Promise<string> {
  return (await makeOperator(server, account, [{ site_id: account.siteId, role: 'operator' }])).token;
}
