import type { Delivery, ListDeliveriesResponse, Webhook, WebhookRecovery, WebhookStats } from '@usher/sdk/api-types';
import Type from 'typebox';
import { deliveryOutput, failingDeliveriesOutput, recoveryOutput } from './outputs.ts';
import {
  cursor,
  describeNext,
  id,
  instant,
  limit,
  plural,
  quoteUntrusted,
  tool,
  untrusted,
  untrustedNotice,
} from './tool.ts';
import { cursorOf, isForbidden, ToolError, type ToolApi } from './tool-api.ts';

const failingStates = ['retrying', 'exhausted', 'held'] as const;
type FailingState = (typeof failingStates)[number];

const statsMs = 7 * 86_400_000;
/** Deliveries of each state that the overview shows for a webhook. */
const overviewCount = 3;
/** A page scans a limited part of the log and may be empty. So many pages are read before the tool answers. */
const maxPages = 5;
/** A request is answered within 22 s, so an account with very many webhooks is examined in part. */
const examineMs = 10_000;

export const listFailingDeliveries = tool({
  name: 'list_failing_deliveries',
  title: 'List failing deliveries',
  description:
    'Lists webhooks in trouble with their last error and their newest failing deliveries. With webhook_id: the failing deliveries of that webhook. States: retrying (will be tried again), exhausted (given up), held (the webhook is disabled).',
  input: {
    webhook_id: Type.Optional(id('Only this webhook')),
    state: Type.Optional(
      Type.Enum([...failingStates], {
        description: 'Only deliveries in this state; needs webhook_id, and allows paging',
      }),
    ),
    limit: limit(100, 20),
    cursor,
  },
  output: failingDeliveriesOutput,
  changes: null,
  async run(api, { webhook_id, state, limit: most = 20, cursor: from }) {
    if (webhook_id === undefined && state !== undefined) throw new ToolError('state needs a webhook_id.');
    if (state === undefined && from !== undefined) throw new ToolError('cursor needs the state of the previous page.');
    const webhooks =
      webhook_id === undefined
        ? await api.all<'webhooks', Webhook>('/webhooks', 'webhooks')
        : [await api.get<Webhook>(`/webhooks/${webhook_id}`)];
    const states = state === undefined ? failingStates : [state];
    const count = webhook_id === undefined ? overviewCount : most;
    const began = performance.now();
    const shown = [];
    let unexamined = 0;
    // Those that are known to be in trouble come first.
    for (const webhook of webhooks.toSorted((one, other) => Number(isMarked(other)) - Number(isMarked(one)))) {
      if (performance.now() - began > examineMs) {
        unexamined += 1;
        continue;
      }
      const health = await healthOf(api, webhook);
      if (webhook_id === undefined && !isInTrouble(webhook, health)) continue;
      shown.push(await showWebhook(api, webhook, { health, states, count, from }));
    }
    const head =
      shown.length === 0 ? 'No webhook is in trouble.' : `${plural(shown.length, 'webhook')}. ${untrustedNotice}`;
    const rest =
      unexamined === 0
        ? []
        : [`${plural(unexamined, 'webhook')} not examined, because there are too many: name one as webhook_id.`];
    return {
      text: [head, ...shown.flatMap(describeWebhook), ...rest].join('\n'),
      data: { notice: untrustedNotice, webhooks: shown, unexamined },
    };
  },
});

export const replayDelivery = tool({
  name: 'replay_delivery',
  title: 'Send a delivery again',
  description:
    'CHANGES: sends one delivery to its receiver again, now and out of order. The receiver may get the event twice, with the same webhook-id.',
  input: { delivery_id: id('The delivery; list_failing_deliveries shows the ids') },
  output: deliveryOutput,
  changes: { isDestructive: false, isIdempotent: false, reachesOthers: true },
  async run(api, { delivery_id }) {
    const delivery = await api.post<Delivery>(`/deliveries/${delivery_id}/replay`, {});
    return {
      text: `Delivery ${delivery.id} (${delivery.event_type}) is ${delivery.state} and will be sent again now.`,
      data: { notice: untrustedNotice, delivery: showDelivery(delivery) },
    };
  },
});

export const replayDeliveries = tool({
  name: 'replay_deliveries',
  title: 'Send again what a webhook has missed',
  description:
    'CHANGES: sends all held and exhausted deliveries of a webhook since a time again, in the order of the events and in the background. list_failing_deliveries with the webhook_id shows the progress.',
  input: {
    webhook_id: id('The webhook'),
    since: instant('Events at or after this time'),
    until: Type.Optional(instant('Events before this time; default: no limit')),
  },
  output: recoveryOutput,
  changes: { isDestructive: false, isIdempotent: false, reachesOthers: true },
  async run(api, { webhook_id, ...range }) {
    const recovery = await api.post<WebhookRecovery>(`/webhooks/${webhook_id}/recover`, range);
    return {
      text: `Recovery ${recovery.id} of webhook ${webhook_id} is ${recovery.state}; ${recovery.recovered} deliveries requeued so far.`,
      data: { recovery },
    };
  },
});

/** `null`: the caller registered the webhook, but may not read its deliveries. */
async function healthOf(api: ToolApi, { id: webhookId }: Webhook): Promise<WebhookStats | null> {
  const now = Date.now();
  const [from, to] = [now - statsMs, now].map((at) => new Date(at).toISOString());
  const query = { from, to, interval: 86_400 };
  return api.get<WebhookStats>(`/webhooks/${webhookId}/stats`, query).catch((error: unknown) => {
    if (isForbidden(error)) return null;
    throw error;
  });
}

function givenUp(health: WebhookStats | null): number {
  return health?.steps.reduce((sum, step) => sum + step.given_up, 0) ?? 0;
}

/** Usher itself says that the webhook is in trouble. A webhook that somebody disabled on purpose is not. */
function isMarked({ enabled, disabled_because, failing_since }: Webhook): boolean {
  return enabled ? failing_since !== null : disabled_because !== 'asked';
}

function isInTrouble(webhook: Webhook, health: WebhookStats | null): boolean {
  if (isMarked(webhook) || !webhook.enabled) return isMarked(webhook);
  const { retrying = 0, held = 0 } = health?.waiting ?? {};
  return retrying > 0 || held > 0 || givenUp(health) > 0;
}

interface WebhookQuery {
  readonly health: WebhookStats | null;
  readonly states: readonly FailingState[];
  /** Deliveries of each state. */
  readonly count: number;
  readonly from: string | undefined;
}

async function showWebhook(api: ToolApi, webhook: Webhook, { health, states, count, from }: WebhookQuery) {
  const deliveries = [];
  let next: string | null = null;
  if (health !== null)
    for (const state of states) {
      const page = await readDeliveries(api, webhook.id, { state, count, from });
      deliveries.push(...page.deliveries);
      if (states.length === 1) next = page.next;
    }
  return {
    id: webhook.id,
    target: targetOf(webhook.url),
    description: webhook.description,
    enabled: webhook.enabled,
    disabled_because: webhook.disabled_because,
    disabled_at: webhook.disabled_at,
    failing_since: webhook.failing_since,
    may_read_deliveries: health !== null,
    waiting: health?.waiting ?? null,
    given_up_in_7_days: givenUp(health),
    last_attempt: showAttempt(health),
    latest_recovery: health === null ? null : await latestRecovery(api, webhook.id),
    deliveries: deliveries.map(showDelivery),
    next_cursor: next,
  };
}

async function latestRecovery(api: ToolApi, webhookId: string): Promise<WebhookRecovery | null> {
  const path = `/webhooks/${webhookId}/recoveries`;
  const { recoveries } = await api.get<{ recoveries: readonly WebhookRecovery[] }>(path, { per_page: 1 });
  return recoveries[0] ?? null;
}

async function readDeliveries(
  api: ToolApi,
  webhookId: string,
  { state, count, from }: { readonly state: FailingState; readonly count: number; readonly from: string | undefined },
): Promise<{ readonly deliveries: readonly Delivery[]; readonly next: string | null }> {
  const deliveries: Delivery[] = [];
  let next = from;
  for (let pages = 0; pages < maxPages; pages += 1) {
    const query = { state, per_page: count - deliveries.length, cursor: next };
    const page = await api.get<ListDeliveriesResponse>(`/webhooks/${webhookId}/deliveries`, query);
    deliveries.push(...page.deliveries);
    next = cursorOf(page.next_page) ?? undefined;
    if (next === undefined || deliveries.length >= count) break;
  }
  return { deliveries, next: next ?? null };
}

/** The scheme and the host alone: many receivers put a token into the path or the query. */
function targetOf(url: string): string {
  const { protocol, host } = new URL(url);
  return `${protocol}//${host}`;
}

function showAttempt(health: WebhookStats | null) {
  const attempt = health?.last_attempt ?? null;
  return attempt === null ? null : { ...attempt, error: untrusted(attempt.error) };
}

function showDelivery({ last_error, ...delivery }: Delivery) {
  return { ...delivery, last_error: untrusted(last_error) };
}

function describeWebhook(webhook: Awaited<ReturnType<typeof showWebhook>>): string[] {
  const { last_attempt: last, waiting } = webhook;
  const state = webhook.enabled
    ? webhook.failing_since === null
      ? 'enabled'
      : `failing since ${webhook.failing_since}`
    : `disabled (${webhook.disabled_because ?? 'unknown reason'})`;
  const counts =
    waiting === null
      ? 'you may not read its deliveries'
      : `${waiting.retrying} retrying, ${waiting.held} held, ${webhook.given_up_in_7_days} given up in 7 days`;
  const error = last === null || last.error === null ? '' : ` Last error: ${quoteUntrusted(last.error.untrusted)}.`;
  return [
    `- Webhook ${webhook.id} to ${webhook.target}: ${state}; ${counts}.${error}`,
    ...webhook.deliveries.map(
      ({ id: deliveryId, event_type, state: its, occurred_at, last_status, last_error }) =>
        `  - delivery ${deliveryId}: ${event_type} of ${occurred_at}, ${its}, last status ${last_status ?? 'none'}${last_error === null ? '' : `, ${quoteUntrusted(last_error.untrusted)}`}`,
    ),
    ...describeNext(webhook.next_cursor),
  ];
}
