import { randomUUID } from 'node:crypto';
import { insertDeliveries, insertWebhook } from '../receivers/deliveries.ts';
import { fileForm, uploadFile, startFileEngagement } from '../people/files.ts';
import { credentialCases, makeTargetOperator } from './audited-credentials.ts';
import { sampleCases } from './audited-samples.ts';
import { call, type Json } from '../server.ts';
import { makeWebhook, webhookFields } from '../receivers/webhooks.ts';
import {
  requestTicket,
  expectStatus,
  makeApplicationToken,
  makeAvailableOperator,
  makePolicy,
  makeProvider,
  makeQueue,
  makeSite,
  makeTeam,
  makeVisitor,
  policyFields,
  providerFields,
  queueFields,
  type ServerHandle,
  type TestAccount,
} from '../world.ts';

/** A server, and the account in which the requests change something. */
export interface World extends ServerHandle {
  readonly account: TestAccount;
}

export interface Case {
  /** The token of the request and the credential it was obtained with. By default both are the administrator's. */
  readonly as?: { readonly token: string; readonly via: string };
  readonly action: string;
  readonly path: string;
  readonly body?: unknown;
  /** The id of the changed object. A created object has its id in the response, in `id` unless `createdField` says otherwise. */
  readonly target?: string;
  readonly createdField?: string;
  readonly name?: string | null;
  /** Changes that the entry must list; it may list more. */
  readonly changes?: readonly Json[];
}

/** Values that must not appear in any entry. */
export const sentSecrets: string[] = [];

function secret(): string {
  const text = `hidden-${randomUUID()}`;
  sentSecrets.push(text);
  return text;
}

export async function makeChannel(world: World, kind: 'phone' | 'digital'): Promise<string> {
  const { body } = channelCase(world, kind, await makeQueue(world, world.account));
  const { admin } = world.account;
  return expectStatus(await call(world, `POST /${kind}_channels`, { token: admin, body }), 201).body.id;
}

let count = 0;
function channelCase({ account }: World, kind: 'phone' | 'digital', queue_id: string): { body: Json; name: string } {
  count += 1;
  const name = kind === 'phone' ? `+1555${1_000_000 + count}` : `address-${count}`;
  const addressing = kind === 'phone' ? { number: name } : { kind: 'sms', address: name };
  return { body: { site_id: account.siteId, queue_id, ...addressing }, name };
}

/** A ticket or request that creates its visitor, whom the entry is about. */
function newVisitorCase(path: string, body: Json): Case {
  const changes = [
    { field: 'name', hidden: true },
    { field: 'team_ids', after: body.new_site_visitor.team_ids ?? [] },
  ];
  return { action: 'visitor.create', path, body, createdField: 'visitor_id', name: null, changes };
}

/** For each audited route, a request that changes something. */
export const cases: Readonly<Record<string, (world: World) => Promise<Case>>> = {
  'POST /sites': async () => ({ action: 'site.create', path: '/sites', body: { name: 'New' }, name: 'New' }),
  'PATCH /sites/:site_id': async (world) => {
    const id = await makeSite(world, world.account);
    const changes = [{ field: 'allowed_origins', before: [], after: ['https://a.example'] }];
    const body = { allowed_origins: ['https://a.example'] };
    return { action: 'site.update', path: `/sites/${id}`, body, target: id, name: 'Another site', changes };
  },
  'DELETE /sites/:site_id': async (world) => {
    const target = await makeSite(world, world.account, 'Gone soon');
    return { action: 'site.delete', path: `/sites/${target}`, target, name: 'Gone soon' };
  },
  'POST /teams': async (world) => ({
    action: 'team.create',
    path: '/teams',
    body: { site_id: world.account.siteId, name: 'Red' },
    name: 'Red',
    changes: [
      { field: 'name', after: 'Red' },
      { field: 'description', after: null },
    ],
  }),
  'PATCH /teams/:team_id': async (world) => {
    const id = await makeTeam(world, world.account, world.account.siteId);
    const changes = [{ field: 'name', before: 'Team', after: 'Blue' }];
    return { action: 'team.update', path: `/teams/${id}`, body: { name: 'Blue' }, target: id, name: 'Blue', changes };
  },
  'DELETE /teams/:team_id': async (world) => {
    const id = await makeTeam(world, world.account, world.account.siteId);
    const changes = [
      { field: 'name', before: 'Team' },
      { field: 'description', before: null },
    ];
    return { action: 'team.delete', path: `/teams/${id}`, target: id, name: 'Team', changes };
  },
  'POST /operators': async (world) => ({
    action: 'operator.create',
    path: '/operators',
    body: {
      name: 'Ann',
      email: `${randomUUID()}@test`,
      assignments: [{ site_id: world.account.siteId }],
      password: secret(),
    },
    name: 'Ann',
  }),
  'PATCH /operators/:operator_id': async (world) => {
    const { id } = await makeTargetOperator(world);
    const team = await makeTeam(world, world.account, world.account.siteId);
    const assignments = [{ site_id: world.account.siteId, role: 'manager', team_ids: [team] }];
    const changes = [
      {
        field: 'assignments',
        before: [{ role: 'operator', site_id: world.account.siteId, team_ids: [] }],
        after: [{ role: 'manager', site_id: world.account.siteId, team_ids: [team] }],
      },
    ];
    return { action: 'operator.update', path: `/operators/${id}`, body: { assignments }, target: id, changes };
  },
  'DELETE /operators/:operator_id': async (world) => {
    const { id } = await makeTargetOperator(world);
    const changes = [{ field: 'enabled', before: true, after: false }];
    return { action: 'operator.disable', path: `/operators/${id}`, target: id, name: 'Somebody', changes };
  },
  ...credentialCases,
  ...sampleCases,
  'POST /sites/:site_id/application_tokens': async (world) => ({
    action: 'application_token.create',
    path: `/sites/${world.account.siteId}/application_tokens`,
    body: { kind: 'secret' },
    changes: [{ field: 'kind', after: 'secret' }],
  }),
  'DELETE /sites/:site_id/application_tokens/:token_id': async (world) => {
    const { id } = await makeApplicationToken(world, world.account, 'publishable');
    const path = `/sites/${world.account.siteId}/application_tokens/${id}`;
    return {
      action: 'application_token.delete',
      path,
      target: id,
      changes: [{ field: 'kind', before: 'publishable' }],
    };
  },
  'POST /visitors': async (world) => ({
    action: 'visitor.create',
    path: '/visitors',
    body: { site_id: world.account.siteId, name: secret() },
    name: null,
    changes: [
      { field: 'name', hidden: true },
      { field: 'team_ids', after: [] },
    ],
  }),
  'PATCH /sites/:site_id/visitors/:visitor_id': async (world) => {
    const { id } = await makeVisitor(world, world.account);
    const body = { email: `${secret()}@test`, note: secret(), custom_attributes: { [secret()]: secret() } };
    const changes = ['email', 'note', 'custom_attributes'].map((field) => ({ field, hidden: true }));
    const path = `/sites/${world.account.siteId}/visitors/${id}`;
    return { action: 'visitor.update', path, body, target: id, name: null, changes };
  },
  'POST /queues/scheduling_policies': async (world) => ({
    action: 'scheduling_policy.create',
    path: '/queues/scheduling_policies',
    body: { site_id: world.account.siteId, ...policyFields },
    name: 'Office hours',
  }),
  'PUT /queues/scheduling_policies/:scheduling_policy_id': async (world) => {
    const id = await makePolicy(world, world.account);
    const exceptions = [{ date: '2027-12-24' }];
    const body = { ...policyFields, exceptions };
    const path = `/queues/scheduling_policies/${id}`;
    const changes = [{ field: 'exceptions', before: [], after: exceptions }];
    return { action: 'scheduling_policy.update', path, body, target: id, name: 'Office hours', changes };
  },
  'DELETE /queues/scheduling_policies/:scheduling_policy_id': async (world) => {
    const id = await makePolicy(world, world.account);
    return { action: 'scheduling_policy.delete', path: `/queues/scheduling_policies/${id}`, target: id };
  },
  'POST /queues': async (world) => ({
    action: 'queue.create',
    path: '/queues',
    body: { site_id: world.account.siteId, ...queueFields },
    name: 'Queue',
    changes: [
      { field: 'name', after: 'Queue' },
      { field: 'description', after: null },
      { field: 'capacity_policy', after: queueFields.capacity_policy },
      { field: 'routing_policy', after: {} },
      { field: 'when_unstaffed', after: 'reject' },
      { field: 'operator_ranking_enabled', after: false },
      { field: 'welcome_message', after: null },
      { field: 'scheduling_policy_id', after: null },
      { field: 'fallback_queue_id', after: null },
      { field: 'operator_affinity', after: null },
    ],
  }),
  'PUT /queues/:queue_id': async (world) => {
    const id = await makeQueue(world, world.account);
    const body = { ...queueFields, name: 'Other', capacity_policy: { type: 'fixed', capacity: 11 } };
    const changes = [
      { field: 'name', before: 'Queue', after: 'Other' },
      { field: 'capacity_policy', before: queueFields.capacity_policy, after: body.capacity_policy },
    ];
    return { action: 'queue.update', path: `/queues/${id}`, body, target: id, name: 'Other', changes };
  },
  'DELETE /queues/:queue_id': async (world) => {
    const id = await makeQueue(world, world.account);
    return { action: 'queue.delete', path: `/queues/${id}`, target: id, name: 'Queue' };
  },
  'PATCH /queues/:queue_id/rankings': async (world) => {
    const [id, { id: operator }] = [await makeQueue(world, world.account), await makeTargetOperator(world)];
    const operators = [{ id: operator, rank: 3 }];
    const changes = [{ field: 'operators', before: [], after: operators }];
    return {
      action: 'queue.rank',
      path: `/queues/${id}/rankings`,
      body: { operators },
      target: id,
      name: 'Queue',
      changes,
    };
  },
  'POST /phone_channels': async (world) => ({
    action: 'phone_channel.create',
    path: '/phone_channels',
    ...channelCase(world, 'phone', await makeQueue(world, world.account)),
  }),
  'PATCH /phone_channels/:channel_id': async (world) => {
    const [id, queue_id] = [await makeChannel(world, 'phone'), await makeQueue(world, world.account)];
    return { action: 'phone_channel.update', path: `/phone_channels/${id}`, body: { queue_id }, target: id };
  },
  'DELETE /phone_channels/:channel_id': async (world) => {
    const id = await makeChannel(world, 'phone');
    return { action: 'phone_channel.delete', path: `/phone_channels/${id}`, target: id };
  },
  'POST /digital_channels': async (world) => ({
    action: 'digital_channel.create',
    path: '/digital_channels',
    ...channelCase(world, 'digital', await makeQueue(world, world.account)),
  }),
  'PATCH /digital_channels/:channel_id': async (world) => {
    const id = await makeChannel(world, 'digital');
    const changes = [{ field: 'kind', before: 'sms', after: 'whatsapp' }];
    return {
      action: 'digital_channel.update',
      path: `/digital_channels/${id}`,
      body: { kind: 'whatsapp' },
      target: id,
      changes,
    };
  },
  'DELETE /digital_channels/:channel_id': async (world) => {
    const id = await makeChannel(world, 'digital');
    return { action: 'digital_channel.delete', path: `/digital_channels/${id}`, target: id };
  },
  'PUT /operators/:operator_id/presence': async (world) => {
    const { id } = await makeTargetOperator(world);
    // No ticket of another test has this medium, so no offer follows.
    const body = { available: true, media: ['phone'], reason: 'asked by phone' };
    const changes = [
      { field: 'available', before: false, after: true },
      { field: 'media', before: ['text', 'phone', 'audio', 'video'], after: ['phone'] },
      { field: 'presence_reason', before: null, after: 'asked by phone' },
    ];
    return { action: 'operator.presence', path: `/operators/${id}/presence`, body, target: id, changes };
  },
  'POST /queue_tickets': async (world) => {
    // Nobody is in the team, so that the ticket is not offered to operators of other cases.
    const team = await makeTeam(world, world.account, world.account.siteId);
    const routing_policy = { team_ids: [team] };
    const queue_id = await makeQueue(world, world.account, { when_unstaffed: 'accept', routing_policy });
    const new_site_visitor = { site_id: world.account.siteId, name: secret(), team_ids: [team] };
    return newVisitorCase('/queue_tickets', { media: 'text', queue_id, new_site_visitor });
  },
  'POST /engagement_requests': async (world) => {
    const operator = await makeAvailableOperator(world, world.account, { media: ['phone'] });
    const new_site_visitor = { site_id: world.account.siteId, name: secret() };
    return newVisitorCase('/engagement_requests', { media: 'phone', operator_id: operator.id, new_site_visitor });
  },
  'PATCH /queue_tickets/:ticket_id': async (world) => {
    const queue = await makeQueue(world, world.account, {
      when_unstaffed: 'accept',
      routing_policy: { media: ['video'] },
    });
    const { body } = expectStatus(
      await requestTicket(world, world.account, { queue_ids: [queue], media: 'video' }),
      201,
    );
    const changes = [{ field: 'state', before: 'waiting', after: 'canceled' }];
    const path = `/queue_tickets/${body.id}`;
    return { action: 'queue_ticket.cancel', path, body: { action: 'cancel' }, target: body.id, name: null, changes };
  },
  'PUT /files/:file_id/security_scan': async (world) => {
    const talk = await startFileEngagement(world, world.account);
    const id = await uploadFile(world, talk, fileForm('Hello', `${secret()}.txt`));
    const changes = [{ field: 'state', before: 'pending', after: 'infected' }];
    const path = `/files/${id}/security_scan`;
    return { action: 'file.scan', path, body: { result: 'infected' }, target: id, name: null, changes };
  },
  'DELETE /engagements/:engagement_id/files/:file_id': async (world) => {
    const talk = await startFileEngagement(world, world.account);
    const id = await uploadFile(world, talk, fileForm('Hello', `${secret()}.txt`));
    const changes = [{ field: 'deleted', before: false, after: true }];
    return { action: 'file.delete', path: `${talk.path}/${id}`, target: id, name: null, changes };
  },
  'POST /sites/:site_id/visitor_authentication_providers': async (world) => ({
    action: 'visitor_authentication_provider.create',
    path: `/sites/${world.account.siteId}/visitor_authentication_providers`,
    body: { ...providerFields(), client_secret: secret() },
  }),
  'DELETE /sites/:site_id/visitor_authentication_providers/:provider_id': async (world) => {
    const id = await makeProvider(world, world.account, { client_secret: secret() });
    const path = `/sites/${world.account.siteId}/visitor_authentication_providers/${id}`;
    return { action: 'visitor_authentication_provider.delete', path, target: id };
  },
  'POST /sip_domains': async (world) => ({
    action: 'sip_domain.create',
    path: '/sip_domains',
    body: { site_id: world.account.siteId, domain: 'one.example.com' },
    name: 'one.example.com',
    changes: [{ field: 'domain', after: 'one.example.com' }],
  }),
  'DELETE /sip_domains/:sip_domain_id': async (world) => {
    const body = { site_id: world.account.siteId, domain: 'two.example.com' };
    const { id } = expectStatus(await call(world, 'POST /sip_domains', { token: world.account.admin, body }), 201).body;
    const changes = [{ field: 'domain', before: 'two.example.com' }];
    return { action: 'sip_domain.delete', path: `/sip_domains/${id}`, target: id, name: 'two.example.com', changes };
  },
  'POST /webhooks': async (world) => ({
    action: 'webhook.create',
    path: '/webhooks',
    body: {
      ...webhookFields,
      url: `http://127.0.0.1:9/${secret()}?token=${secret()}`,
      headers: { 'x-password': secret() },
      secret: webhookSecret(),
    },
    changes: [
      { field: 'url', hidden: true },
      { field: 'method', after: 'POST' },
      { field: 'headers', hidden: true },
      { field: 'events', after: ['engagement.start'] },
      { field: 'site_ids', after: null },
      { field: 'description', after: null },
      { field: 'ordering', after: 'engagement' },
      { field: 'enabled', after: true },
      { field: 'registered_by', after: world.account.adminId },
      { field: 'filter', after: null },
      { field: 'origin', after: 'http://127.0.0.1:9' },
    ],
  }),
  'PUT /webhooks/:webhook_id': async (world) => {
    const { id } = await freshWebhook(world);
    const body = { ...webhookFields, url: `http://127.0.0.1:10/${secret()}`, headers: { 'x-password': secret() } };
    const changes = [
      { field: 'url', hidden: true },
      { field: 'headers', hidden: true },
      { field: 'origin', before: 'http://127.0.0.1:9', after: 'http://127.0.0.1:10' },
    ];
    return { action: 'webhook.update', path: `/webhooks/${id}`, body, target: id, name: null, changes };
  },
  'DELETE /webhooks/:webhook_id': async (world) => {
    const { id } = await freshWebhook(world);
    return { action: 'webhook.delete', path: `/webhooks/${id}`, target: id };
  },
  'POST /webhooks/:webhook_id/rotate_secret': async (world) => {
    const { id } = await freshWebhook(world);
    return { action: 'webhook.rotate_secret', path: `/webhooks/${id}/rotate_secret`, body: {}, target: id };
  },
  'POST /webhooks/:webhook_id/test': async (world) => {
    const { id } = await freshWebhook(world);
    const body = { event_type: 'engagement.start' };
    return { action: 'webhook.test', path: `/webhooks/${id}/test`, body, target: id };
  },
  'POST /webhooks/:webhook_id/recover': async (world) => {
    const { id } = await freshWebhook(world);
    const body = { since: '2026-01-01T00:00:00.000Z' };
    const changes = [
      { field: 'since', after: body.since },
      { field: 'until', after: null },
    ];
    return { action: 'webhook.recover', path: `/webhooks/${id}/recover`, body, target: id, changes };
  },
  'POST /deliveries/:delivery_id/replay': async (world) => {
    const webhook = await insertWebhook(world, world.account);
    const [id = ''] = await insertDeliveries(world.database.sql, webhook, 'exhausted', { count: 1 });
    return { action: 'delivery.replay', path: `/deliveries/${id}/replay`, body: {}, target: id, name: null };
  },
};

/** Deletes all webhooks first, because the number of webhooks of an account is limited. */
export async function freshWebhook(world: World): Promise<Json> {
  await world.database.sql`DELETE FROM webhooks`;
  return makeWebhook(world, world.account, { headers: { 'x-password': secret() } });
}

function webhookSecret(): string {
  const text = `whsec_${Buffer.from(randomUUID()).toString('base64')}`;
  sentSecrets.push(text);
  return text;
}
