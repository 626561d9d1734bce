import { randomUUID } from 'node:crypto';
import type { SiteId } from '../../../packages/server/src/platform/ids.ts';
import { newNumber, signedForm } from '../services/carrier.ts';
import { freeOperators, type Cast } from './cast.ts';
import type { CallerKind } from './expected-access.ts';
import { fileForm } from '../people/files.ts';
import { onePixel } from '../people/pictures.ts';
import type { Json } from '../server.ts';
import { newInvitation } from '../people/sign-in.ts';
import { webhookFields } from '../receivers/webhooks.ts';
import {
  makeAvailableOperator,
  makeQueue,
  makeVisitor,
  policyFields,
  providerFields,
  queueFields,
  type TestAccount,
} from '../world.ts';

/** What a body may depend on: the cast, the ids in the path, and the caller. */
interface BodyRequest extends Pick<Cast, 'server' | 'account' | 'otherSite'> {
  readonly cast: Cast;
  readonly ids: Readonly<Record<string, string>>;
  readonly kind: CallerKind;
}

/** A body with which the route succeeds. Throws for a route without a body in this file. */
export async function bodyOf(
  cast: Cast,
  route: string,
  { ids = {}, kind }: { readonly ids?: Readonly<Record<string, string>>; readonly kind: CallerKind },
): Promise<unknown> {
  const make = bodies[route];
  if (make === undefined && /^(?:POST|PUT|PATCH) /.test(route))
    throw new Error(`say in test/support/api/valid-bodies.ts what a valid body for ${route} is`);
  const { server, account, otherSite } = cast;
  return make?.({ cast, server, account, otherSite, ids, kind });
}

let count = 0;
const statisticsRange = { start_date: '2027-01-01', end_date: '2027-01-02' };
/** A valid body for each route that takes one. */
const bodies: Readonly<Record<string, (request: BodyRequest) => unknown>> = {
  'POST /operator_authentication/tokens': ({ account }) => credentials(account),
  'POST /sites/tokens': ({ account }) => credentials(account),
  'POST /operator_authentication/sessions': ({ account }) => credentials(account),
  'POST /operator_authentication/sessions/current/token': () => ({}),
  'POST /operators/:operator_id/invitations': () => ({}),
  'POST /operator_authentication/invitations/preview': async ({ server, account }) => ({
    invitation: await newInvitation(server, account),
  }),
  'POST /operator_authentication/invitations/accept': async ({ server, account }) => ({
    invitation: await newInvitation(server, account),
    password: 'a lamp by the river',
  }),
  'PUT /operator_authentication/password': () => ({ new_password: 'a lamp by the river' }),
  'POST /operators/:operator_id/api_keys': () => ({}),
  'POST /operators/:operator_id/access_tokens': () => ({ name: 'Bridge', expires_at: '2099-01-01T00:00:00Z' }),
  'POST /sites/:site_id/application_tokens': () => ({ kind: 'secret' }),
  'POST /sites': () => ({ name: 'New' }),
  'PATCH /sites/:site_id': () => ({ name: 'Renamed' }),
  'POST /teams': ({ account }) => ({ site_id: account.siteId, name: 'New' }),
  'PATCH /teams/:team_id': () => ({ name: 'Renamed' }),
  'POST /operators': () => ({ name: 'New', email: `new-${(count += 1)}@test` }),
  'PATCH /operators/:operator_id': () => ({ name: 'Renamed' }),
  'PUT /operators/:operator_id/presence': () => ({ available: true }),
  'PUT /operators/:operator_id/picture': () => ({ content: onePixel }),
  'POST /visitors': ({ account }) => ({ site_id: account.siteId }),
  'POST /visitors/:visitor_id/token': () => undefined,
  'PATCH /sites/:site_id/visitors/:visitor_id': () => ({ name: 'Renamed' }),
  'PUT /visitors/:visitor_id/presence': () => ({ expires_in_sec: 60 }),
  'PATCH /visitors/:visitor_id': ({ otherSite }) => ({ site_id: otherSite }),
  'POST /queues/scheduling_policies': ({ account }) => ({ site_id: account.siteId, ...policyFields }),
  'PUT /queues/scheduling_policies/:scheduling_policy_id': () => policyFields,
  'POST /queues/scheduling_policies/preview': ({ account }) => {
    const { timezone, business_hours } = policyFields;
    return { site_id: account.siteId, timezone, business_hours };
  },
  'POST /queues/preview': ({ account }) => ({ site_id: account.siteId, ...queueFields }),
  'POST /queues': ({ account }) => ({ site_id: account.siteId, ...queueFields }),
  'PUT /queues/:queue_id': () => queueFields,
  'PATCH /queues/:queue_id/rankings': () => ({ operators: [] }),
  'POST /phone_channels': async ({ server, account }) => ({
    site_id: account.siteId,
    number: `+1555${(count += 1) + 1_000_000}`,
    queue_id: await makeQueue(server, account),
  }),
  'PATCH /phone_channels/:channel_id': () => ({}),
  'POST /digital_channels': async ({ server, account }) => ({
    site_id: account.siteId,
    kind: 'sms',
    address: `a${(count += 1)}`,
    queue_id: await makeQueue(server, account),
  }),
  'PATCH /digital_channels/:channel_id': () => ({}),
  'POST /queue_tickets': ({ account, ids: { queue_id }, kind }) => ({
    site_id: account.siteId,
    media: 'video',
    queue_id,
    ...(kind === 'visitor' ? {} : { new_site_visitor: { name: 'New' } }),
  }),
  'PATCH /queue_tickets/:ticket_id': () => ({ action: 'cancel' }),
  'POST /engagement_requests': async ({ cast, server, account, kind }) => {
    await freeOperators(cast);
    const target =
      kind === 'visitor'
        ? await makeAvailableOperator(server, account, { media: ['text'] })
        : await makeVisitor(server, account);
    return { site_id: account.siteId, media: 'text', operator_id: target.id, visitor_id: target.id };
  },
  'PATCH /engagement_requests/:request_id': ({ kind }) => ({ action: kind === 'visitor' ? 'accept' : 'cancel' }),
  'POST /engagements/search': ({ account }) => ({ site_ids: [account.siteId] }),
  'PATCH /engagements/:engagement_id': () => ({ action: 'end' }),
  'PUT /engagements/:engagement_id/chat_messages/:message_id': () => ({ content: 'Hello' }),
  'PATCH /engagements/:engagement_id/chat_messages/:message_id': () => ({ status: 'delivered' }),
  'PUT /engagements/:engagement_id/typing_indicator': () => ({ typing: true }),
  'POST /engagements/:engagement_id/signals': () => ({ call_id: randomUUID(), kind: 'ready', data: null }),
  'POST /engagements/:engagement_id/system_messages': () => ({ content: 'News' }),
  'POST /engagements/:engagement_id/media_upgrade_requests': () => ({ audio: 'two_way', video: null }),
  'PATCH /engagements/:engagement_id/media_upgrade_requests/:upgrade_id': () => ({ action: 'decline' }),
  'PATCH /engagements/:engagement_id/calls/:call_id': () => ({ action: 'end' }),
  'POST /engagements/:engagement_id/events': () => ({ message: 'cart_opened' }),
  'POST /engagements/:engagement_id/files': () => fileForm('Hello'),
  'PUT /files/:file_id/security_scan': () => ({ result: 'clean' }),
  'POST /transfer_requests': ({ ids: { engagement_id, operator_id } }) => ({ engagement_id, operator_id }),
  'PATCH /transfer_requests/:request_id': () => ({ action: 'cancel' }),
  'POST /transfer_tickets': ({ ids: { engagement_id, queue_id } }) => ({ engagement_id, queue_id, media: 'video' }),
  'PATCH /transfer_tickets/:ticket_id': () => ({ action: 'cancel' }),
  'POST /sites/:site_id/visitor_authentication_providers': () => providerFields(),
  'POST /visitor_authentication/requests': ({ ids: { provider_id } }) => ({ provider_id, id_token: 'none' }),
  'POST /sip_domains': ({ account }) => ({ site_id: account.siteId, domain: `sip${(count += 1)}.example.com` }),
  'POST /webhooks': ({ cast, kind }) => ({ ...webhookFields, site_ids: [siteOf(cast, kind)] }),
  'PUT /webhooks/:webhook_id': () => webhookFields,
  'POST /webhooks/:webhook_id/rotate_secret': () => ({}),
  'POST /webhooks/:webhook_id/test': () => ({ event_type: 'engagement.start' }),
  'POST /deliveries/:delivery_id/replay': () => ({}),
  'POST /webhooks/:webhook_id/recover': () => ({ since: '2026-01-01T00:00:00Z' }),
  'POST /outbound_sms': ({ account }) => ({
    site_id: account.siteId,
    from_number: newNumber(),
    to_number: newNumber(),
    message: 'Hello?',
  }),
  'POST /sample_data': () => undefined,
  'POST /sample_data/receiver': () => ({}),
  'PATCH /sample_data': () => ({ action: 'stop' }),
  'POST /engagements/stats/duration': () => statisticsRange,
  'POST /engagements/stats/post_engagement_duration': () => statisticsRange,
  'POST /engagements/stats/queue/wait_duration': () => statisticsRange,
  'POST /operators/stats/online_duration': () => statisticsRange,
  'POST /reporting/live/queue/average_wait_time': () => ({}),
  'POST /carriers/twilio/status': () => signedForm('status').body,
  'POST /carriers/twilio/inbound': () => signedForm('inbound').body,
  'POST /mcp': () => ({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'list_queues', arguments: {} } }),
};

/** A site on which the caller has a role. */
function siteOf({ account, stranger, otherSite }: Cast, kind: CallerKind): SiteId {
  if (kind === 'stranger') return stranger.siteId;
  return kind === 'elsewhere' ? otherSite : account.siteId;
}

/** Headers that a route requires besides or instead of the token. */
export const headersOf: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'POST /carriers/twilio/status': signedForm('status').headers,
  'POST /carriers/twilio/inbound': signedForm('inbound').headers,
  'POST /mcp': { accept: 'application/json, text/event-stream' },
};

/** The required query parameters of a route. */
export const queriesOf: Readonly<Record<string, (account: TestAccount) => string>> = {
  'DELETE /sites/:site_id': () => '?confirm=Another+site',
  'GET /queues': (account) => `?site_ids[]=${account.siteId}`,
  'GET /engagements': (account) => `?site_ids[]=${account.siteId}`,
  'GET /queue_tickets': (account) => `?site_ids[]=${account.siteId}`,
  'GET /transfer_tickets': (account) => `?site_ids[]=${account.siteId}`,
  'GET /queues/stats': (account) => `?site_ids[]=${account.siteId}&from=2027-01-01T00:00:00Z&to=2027-01-02T00:00:00Z`,
  'GET /visitors': (account) => `?ids[]=${account.siteId}`,
  'GET /files': (account) => `?site_ids[]=${account.siteId}&state=pending`,
  'GET /operators/presence_intervals': (account) =>
    `?site_ids[]=${account.siteId}&from=2027-01-01T00:00:00Z&to=2027-01-02T00:00:00Z`,
  'GET /engagements/stats/duration': () => '?start_date=2027-01-01&end_date=2027-01-02',
  'GET /engagements/stats/post_engagement_duration': () => '?start_date=2027-01-01&end_date=2027-01-02',
  'GET /engagements/stats/queue/wait_duration': () => '?start_date=2027-01-01&end_date=2027-01-02',
  'GET /operators/stats/online_duration': () => '?start_date=2027-01-01&end_date=2027-01-02',
  'GET /queues/:queue_id/stats': () => '?from=2027-01-01T00:00:00Z&to=2027-01-02T00:00:00Z',
  'GET /webhooks/:webhook_id/stats': () => '?from=2027-01-01T00:00:00Z&to=2027-01-02T00:00:00Z',
  'GET /queues/scheduling_policies': (account) => `?site_ids[]=${account.siteId}`,
  'GET /queues/scheduling_policies/:scheduling_policy_id/preview': () =>
    '?from=2027-01-01T00:00:00Z&to=2027-01-02T00:00:00Z',
};

function credentials(account: TestAccount): Json {
  return { api_key_id: account.key.id, api_key_secret: account.key.secret };
}
