import { randomUUID } from 'node:crypto';
import type { Role } from '@usher/contract/roles';
import type { DeclaredAccess } from '../../../packages/server/src/identity/declared-access.ts';
import { freeOperators, type Cast } from './cast.ts';
import { insertDeliveries, insertWebhook } from '../receivers/deliveries.ts';
import type { CallerKind } from './expected-access.ts';
import { fileForm } from '../people/files.ts';
import { setPicture } from '../people/pictures.ts';
import { call, until, type Json } from '../server.ts';
import { makeSignInTargets } from '../people/sign-in.ts';
import { bodyOf } from './valid-bodies.ts';
import { makeWebhook } from '../receivers/webhooks.ts';
import {
  expectStatus,
  makeAccessToken,
  makeApplicationToken,
  makeOperator,
  makePolicy,
  makeAvailableOperator,
  makeProvider,
  makeQueue,
  makeSite,
  makeTeam,
  makeVisitor,
  type TestOperator,
  type TestVisitor,
} from '../world.ts';

/** Objects that a request names. They are new for each request that may use them up. */
export interface Targets {
  readonly ids: Readonly<Record<string, string>>;
  readonly visitorToken: string;
}

/**
 * Makes an object for each parameter in the path of the route. Where only participants have access, the caller is a participant,
 * or the operator `named`.
 */
export async function makeTargets(
  cast: Cast,
  { method, url }: Pick<DeclaredAccess, 'method' | 'url'>,
  kind: CallerKind,
  named?: TestOperator,
): Promise<Targets> {
  const { server, account, stranger, staff } = cast;
  const visitor = await makeVisitor(server, account);
  const ids: Record<string, string> = { site_id: account.siteId, visitor_id: visitor.id };
  if (url.includes(':name')) ids['name'] = url.startsWith('/demo') ? 'demo.js' : await consoleAsset(cast);
  if (url.includes(':team_id')) ids['team_id'] = await makeTeam(server, account, account.siteId);
  if (url.includes(':token_id')) ids['token_id'] = (await makeApplicationToken(server, account, 'publishable')).id;
  if (url.includes(':operator_id')) {
    const target = await makeOperator(server, account, [{ site_id: account.siteId, role: 'operator' }]);
    Object.assign(ids, { operator_id: target.id, key_id: target.keyId });
    if (url.includes(':access_token_id'))
      ids['access_token_id'] = (await makeAccessToken(server, account, target.id)).id;
  }
  if (url.includes(':picture_id')) {
    const path = await setPicture(server, { token: account.admin }, account.adminId);
    ids['picture_id'] = path.split('/').at(-1) ?? '';
  }
  const self = kind === 'stranger' ? stranger.adminId : kind in staff ? staff[kind as Role].id : account.adminId;
  Object.assign(ids, await makeSignInTargets(server, account, { url, self, operatorId: ids['operator_id'] ?? '' }));
  if (url.includes(':queue_id')) ids['queue_id'] = await makeQueue(server, account);
  if (url.includes(':scheduling_policy_id')) ids['scheduling_policy_id'] = await makePolicy(server, account);
  if (url.includes(':channel_id')) {
    const [, collection = ''] = url.split('/');
    const body = await bodyOf(cast, `POST /${collection}`, { kind: 'manager' });
    const made = await call(server, `POST /${collection}`, { token: account.admin, body });
    ids['channel_id'] = expectStatus(made, 201).body.id;
  }
  if (url.includes('visitor_authentication')) {
    // The number of providers of a site is limited.
    await server.database.sql`DELETE FROM visitor_authentication_providers`;
    ids['provider_id'] = await makeProvider(server, account);
  }
  if (url.includes(':authentication_request_id')) {
    const body = { provider_id: ids['provider_id'], id_token: 'none' };
    const made = await call(server, 'POST /visitor_authentication/requests', { token: visitor.token, body });
    ids['authentication_request_id'] = expectStatus(made, 202).body.id;
  }
  if (url.includes(':sip_domain_id')) {
    const body = await bodyOf(cast, 'POST /sip_domains', { kind: 'manager' });
    const made = await call(server, 'POST /sip_domains', { token: account.admin, body });
    ids['sip_domain_id'] = expectStatus(made, 201).body.id;
  }
  if (`${method} ${url}` === 'PATCH /sample_data') {
    for (const { admin } of [account, stranger]) await call(server, 'POST /sample_data', { token: admin });
  }
  if (`${method} ${url}` === 'DELETE /sites/:site_id') ids['site_id'] = await makeSiteToDelete(cast);
  Object.assign(ids, await makeDeliveryTargets(cast, url));
  if (/\/webhooks(?!.*\/(deliveries|recover))/.test(url)) {
    // The number of webhooks of an account is limited.
    await server.database.sql`DELETE FROM webhooks`;
    ids['webhook_id'] = (await makeWebhook(server, account, { site_ids: [account.siteId] })).id;
  }
  const participant = named ?? (kind === 'manager' || kind === 'super_manager' ? staff[kind] : staff.operator);
  Object.assign(
    ids,
    await makeRoutingTargets(cast, { route: `${method} ${url}`, operator: participant, visitor, kind }),
  );
  return { ids, visitorToken: visitor.token };
}

/** Makes a site on which the staff have the same roles as on the first, and waits until the server knows these roles. */
async function makeSiteToDelete({ server, account, staff }: Cast): Promise<string> {
  const site = await makeSite(server, account);
  const added = await server.database.sql<{ operator_id: string }[]>`
    INSERT INTO operator_assignments (account_id, operator_id, site_id, role)
    SELECT account_id, operator_id, ${site}, role FROM operator_assignments
     WHERE site_id = ${account.siteId} AND operator_id = ANY(${Object.values(staff).map(({ id }) => id)}::uuid[])
    RETURNING operator_id`;
  const ids = new Set(added.map(({ operator_id }) => operator_id));
  for (const { token } of Object.values(staff).filter(({ id }) => ids.has(id))) {
    await until(async () => {
      const { sites } = expectStatus(await call(server, 'GET /sites', { token }), 200).body;
      return sites.some(({ id }: Json) => id === site);
    });
  }
  return site;
}

/** Makes a webhook with two deliveries and two recoveries, if the route is about one. */
async function makeDeliveryTargets({ server, account }: Cast, url: string): Promise<Record<string, string>> {
  if (!url.includes(':webhook_id') && !url.includes(':delivery_id')) return {};
  const webhook = await insertWebhook(server, account);
  const [delivery_id = ''] = await insertDeliveries(server.database.sql, webhook, 'exhausted', { count: 2 });
  const recovery_id = randomUUID();
  await server.database.sql`
    INSERT INTO webhook_recoveries (id, account_id, webhook_id, since)
    SELECT id, ${webhook.accountId}, ${webhook.id}, now()
      FROM unnest(${[recovery_id, randomUUID()]}::uuid[]) AS id`;
  return { webhook_id: webhook.id, delivery_id, recovery_id };
}

interface RoutedTarget {
  readonly route: string;
  readonly operator: TestOperator;
  readonly visitor: TestVisitor;
  readonly kind: CallerKind;
}

/** Makes a ticket, request, engagement or transfer, if the route is about one. */
async function makeRoutingTargets(
  cast: Cast,
  { route, operator, visitor, kind }: RoutedTarget,
): Promise<Record<string, string>> {
  const { server, account } = cast;
  const ask = async (path: string, token: string, body: Json): Promise<Json> =>
    expectStatus(await call(server, `POST ${path}`, { token, body: { site_id: account.siteId, ...body } }), 201).body;
  if (route.includes('queue_tickets')) {
    const queue = await makeQueue(server, account, { when_unstaffed: 'accept', routing_policy: { media: ['video'] } });
    if (!route.includes(':ticket_id')) return { queue_id: queue };
    return { ticket_id: (await ask('/queue_tickets', visitor.token, { media: 'video', queue_id: queue })).id };
  }
  const isAbout = (noun: string): boolean => route.includes(noun);
  const senderOf = (about: string, by: CallerKind) =>
    about.startsWith('DELETE') && by !== 'visitor' ? operator : visitor;
  if (!['engagement_requests/', 'engagements/:', 'transfer_', '/files/:'].some(isAbout)) return {};
  await freeOperators(cast, operator);
  const request = await ask('/engagement_requests', operator.token, { media: 'text', visitor_id: visitor.id });
  if (isAbout('engagement_requests/')) return { request_id: request.id };
  const accepted = await call(server, `PATCH /engagement_requests/${request.id}`, {
    token: visitor.token,
    body: { action: 'accept' },
  });
  const { engagement_id } = expectStatus(accepted, 200).body;
  if (isAbout('transfer_')) return makeTransfer(cast, { route, operator, engagement_id });
  if (isAbout(':file_id'))
    return {
      engagement_id,
      file_id: await makeFile(cast, { route, token: senderOf(route, kind).token, engagement_id }),
    };
  if (isAbout(':call_id'))
    return { engagement_id, call_id: await makeCall(cast, { engagement_id, operator, visitor }) };
  return {
    engagement_id,
    ...(await makeEngagementTargets(cast, { route, engagement_id, other: kind === 'visitor' ? operator : visitor })),
  };
}

interface Engaged {
  readonly route: string;
  readonly engagement_id: string;
}

/** Makes a message or upgrade request of the other side, which the caller may answer. */
async function makeEngagementTargets(
  { server }: Cast,
  { route, engagement_id, other }: Engaged & { readonly other: { readonly token: string } },
): Promise<Record<string, string>> {
  const message_id = randomUUID();
  const base = `/engagements/${engagement_id}`;
  if (route.startsWith('PATCH') && route.includes(':message_id')) {
    const body = { content: 'Hello' };
    expectStatus(await call(server, `PUT ${base}/chat_messages/${message_id}`, { token: other.token, body }), 200);
  }
  if (!route.includes(':upgrade_id')) return { message_id };
  const body = { audio: 'two_way', video: null };
  const upgrade = await call(server, `POST ${base}/media_upgrade_requests`, { token: other.token, body });
  return { upgrade_id: expectStatus(upgrade, 201).body.id };
}

/** Starts a call. */
async function makeCall(
  { server }: Cast,
  { engagement_id, operator, visitor }: Pick<RoutedTarget, 'operator' | 'visitor'> & { readonly engagement_id: string },
): Promise<string> {
  const base = `/engagements/${engagement_id}`;
  const body = { audio: 'two_way', video: null };
  const upgrade = await call(server, `POST ${base}/media_upgrade_requests`, { token: operator.token, body });
  const accept = `PATCH ${base}/media_upgrade_requests/${expectStatus(upgrade, 201).body.id}`;
  expectStatus(await call(server, accept, { token: visitor.token, body: { action: 'accept' } }), 200);
  return expectStatus(await call(server, `GET ${base}`, { token: visitor.token }), 200).body.calls[0].id;
}

/** Uploads a file. Unless the route reports its scan, the file is marked as clean. */
async function makeFile(
  { server, account }: Cast,
  { route, token, engagement_id }: Engaged & { readonly token: string },
): Promise<string> {
  const sent = await call(server, `POST /engagements/${engagement_id}/files`, { token, body: fileForm('Hello') });
  const { file_id } = expectStatus(sent, 200).body;
  if (route.startsWith('PUT')) return file_id;
  const path = `PUT /files/${file_id}/security_scan`;
  expectStatus(await call(server, path, { token: account.admin, body: { result: 'clean' } }), 200);
  return file_id;
}

async function makeTransfer(
  { server, account }: Cast,
  { route, operator, engagement_id }: Engaged & { readonly operator: TestOperator },
): Promise<Record<string, string>> {
  const target = await makeAvailableOperator(server, account, { media: ['text'] });
  const queue = await makeQueue(server, account, { when_unstaffed: 'accept', routing_policy: { media: ['video'] } });
  const ids = { engagement_id, operator_id: target.id, queue_id: queue };
  if (route === 'GET /transfer_tickets') {
    // Two rows, so that the list has a second page.
    const second = await engage({ server, account }, target);
    for (const [by, engaged] of [
      [operator, engagement_id],
      [target, second],
    ] as const) {
      const onward = { engagement_id: engaged, queue_id: queue, media: 'video' };
      expectStatus(await call(server, 'POST /transfer_tickets', { token: by.token, body: onward }), 201);
    }
  }
  if (!route.includes('/:')) return ids;
  const isTicket = route.includes('transfer_tickets');
  const { operator_id, queue_id } = ids;
  const body = isTicket ? { engagement_id, queue_id, media: 'video' } : { engagement_id, operator_id };
  const path = isTicket ? '/transfer_tickets' : '/transfer_requests';
  const { id } = expectStatus(await call(server, `POST ${path}`, { token: operator.token, body }), 201).body;
  return { [isTicket ? 'ticket_id' : 'request_id']: id, ...ids };
}

/** A new visitor accepts the operator's request. Returns the id of the engagement. */
async function engage({ server, account }: Pick<Cast, 'server' | 'account'>, operator: TestOperator): Promise<string> {
  const { id, token } = await makeVisitor(server, account);
  const body = { site_id: account.siteId, media: 'text', visitor_id: id };
  const requested = await call(server, 'POST /engagement_requests', { token: operator.token, body });
  const path = `PATCH /engagement_requests/${expectStatus(requested, 201).body.id}`;
  return expectStatus(await call(server, path, { token, body: { action: 'accept' } }), 200).body.engagement_id;
}

/** The name of an asset of the console's page. */
async function consoleAsset({ server }: Cast): Promise<string> {
  const page = await fetch(`${server.url}/console/`);
  return /assets\/([\w.-]+)/.exec(await page.text())?.[1] ?? '';
}
