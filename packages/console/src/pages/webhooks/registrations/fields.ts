import type { Operations, Webhook } from '@usher/client/api-types';
import { headerPointer } from '@usher/contract/webhook-headers';
import {
  deviceTokenFault,
  headerFault,
  headersFault,
  pushTarget,
  pushUrl,
  topicFault,
  urlFault,
  type Header,
  type PushTarget,
  type Violation,
} from './rules.ts';

export type EventName = Webhook['events'][number];
export type Method = NonNullable<Webhook['method']>;
export const methods: readonly Method[] = ['POST', 'PUT', 'PATCH', 'DELETE'];

/** A webhook as it is edited. */
export interface WebhookFields {
  readonly kind: 'http' | 'apns';
  /** Of one that is called by HTTP. */
  readonly url: string;
  readonly method: Method;
  readonly headers: readonly Header[];
  /** Of one that Apple delivers. */
  readonly push: PushTarget;
  readonly events: readonly EventName[];
  /** `null`: all that its registrar is super_manager of, as that changes. */
  readonly siteIds: readonly string[] | null;
  readonly description: string;
  readonly ordering: Webhook['ordering'];
  readonly enabled: boolean;
}

export const emptyFields: WebhookFields = {
  kind: 'http',
  url: '',
  method: 'POST',
  headers: [],
  push: { deviceToken: '', topic: '', environment: 'sandbox', silent: false },
  events: [],
  siteIds: null,
  description: '',
  ordering: 'engagement',
  enabled: true,
};

export function isPush({ url }: Pick<Webhook, 'url'>): boolean {
  return /^apns:/i.test(url);
}

export function fieldsOf(webhook: Webhook): WebhookFields {
  const push = isPush(webhook);
  return {
    kind: push ? 'apns' : 'http',
    url: push ? '' : webhook.url,
    method: webhook.method ?? 'POST',
    headers: Object.entries(webhook.headers ?? {}).map(([name, value]) => ({ name, value })),
    push: push ? pushTarget(webhook.url) : emptyFields.push,
    events: webhook.events,
    siteIds: webhook.site_ids,
    description: webhook.description ?? '',
    ordering: webhook.ordering,
    enabled: webhook.enabled,
  };
}

export type WebhookBody = Operations['PUT /webhooks/{webhook_id}']['body'];

export function bodyOf(fields: WebhookFields): WebhookBody {
  const { kind, url, method, headers, push, events, siteIds, description, ordering, enabled } = fields;
  return {
    ...(kind === 'apns'
      ? { url: pushUrl(push) }
      : { url, method, headers: Object.fromEntries(headers.map(({ name, value }) => [name, value])) }),
    events,
    site_ids: siteIds,
    description: description === '' ? null : description,
    ordering,
    enabled,
  };
}

/** By the pointers that the server uses, and `/device_token` and `/topic`, which are parts of its URL. */
export function violationsOf(fields: WebhookFields): readonly Violation[] {
  const found = [
    ...(fields.kind === 'http' ? httpFaults(fields) : pushFaults(fields.push)),
    ['/events', fields.events.length === 0 ? 'choose one or more' : null],
    ['/site_ids', fields.siteIds?.length === 0 ? 'choose one or more, or all sites' : null],
  ] as const;
  return found.flatMap(([attribute, detail]) => (detail === null ? [] : [{ attribute, detail }]));
}

type Found = readonly [string, string | null];

function httpFaults({ url, headers }: WebhookFields): Found[] {
  return [
    ['/url', urlFault(url)],
    ...headers.map((header): Found => [headerPointer(header.name), headerFault(header, headers)]),
    // After those of single ones, which are below it.
    ['/headers', headersFault(headers)],
  ];
}

function pushFaults({ deviceToken, topic }: PushTarget): Found[] {
  return [
    ['/device_token', deviceTokenFault(deviceToken)],
    ['/topic', topicFault(topic)],
  ];
}

/** What has been typed so far: of a field that nobody has been at, nothing is said before it is sent. */
export function isTyped(fields: WebhookFields, attribute: string): boolean {
  switch (attribute) {
    case '/url':
      return fields.url !== '';
    case '/device_token':
      return fields.push.deviceToken !== '';
    case '/topic':
      return fields.push.topic !== '';
    case '/events':
    case '/site_ids':
    case '/headers/':
      return false;
    default:
      return true;
  }
}
