import Type from 'typebox';
import { filterViolations } from '../../events/subscriptions/check-filter.ts';
import type { DestinationId } from '../../events/subscriptions/destination.ts';
import { filterSchema } from '../../events/subscriptions/filter.ts';
import {
  requiredByUrl,
  webhookFields as subscriptionFields,
  webhookViolations,
} from '../../events/subscriptions/subscription.ts';
import { assigned, computed, fieldsOf, internal, optional, required } from '../../platform/database/fields.ts';
import type { RowOf, SettingsOf } from '../../platform/database/fields.ts';
import type { Violation } from '../../platform/errors.ts';
import type { AccountId, OperatorId, SiteId } from '../../platform/ids.ts';
import {
  body,
  checked,
  description,
  documented,
  list,
  nullable,
  oneOf,
  output,
  put,
  timestamp,
  uuid,
} from '../../platform/schema.ts';
import { channelOf, channels } from '../../channels/channels.ts';
import { webhookSecret } from '../../channels/webhook-secret.ts';

const orderings = ['engagement', 'none'] as const;
const reasons = ['asked', 'gone', 'failing', 'token_ended'] as const;

const { url, method, headers, credentials, events } = subscriptionFields;

const shownUrl = Type.String({
  description: 'Only the origin is shown to a registrar who may no longer change the webhook',
});
const shownHeaders = Type.Unsafe<Record<string, string> | null>({
  ...nullable(headers),
  description: 'Empty for a registrar who may no longer change the webhook',
});
const siteIds = Type.Unsafe<SiteId[]>({
  ...list(uuid<'site'>(), { minItems: 1 }),
  description:
    'Sites that the webhook covers; null: every site that its registrar is super_manager of, now and as that changes, or every ' +
    'site of the account if registered_by is null. covered_site_ids lists them',
});
const ordering = Type.Unsafe<(typeof orderings)[number]>({
  ...oneOf(orderings),
  description: 'engagement (default): events of an engagement are delivered in order; none: in any order',
});
const enabled = Type.Boolean({
  description: 'Default: true. While false, deliveries are held and can be recovered later',
});
const disabledBecause = Type.Unsafe<(typeof reasons)[number] | null>({
  ...nullable(oneOf(reasons)),
  description:
    'asked: disabled by a request; gone: the receiver answered 410; failing: nothing was delivered for five days; token_ended: Apple ' +
    'invalidated the device token',
});
const registrar = Type.Unsafe<OperatorId | null>({
  ...nullable(uuid<'operator'>()),
  description:
    'The operator who registered the webhook; null: not known, because the webhook is older than this field, or the webhook ' +
    'belongs to the sample data',
});
const coveredSites = Type.Array(uuid<'site'>(), {
  description:
    'The sites that the webhook covers now: those of site_ids (null: all sites) on which both its registrar and the operator who set ' +
    'its URL are super_manager. If registered_by is null: those of site_ids, or all',
});

/** The secret and the credentials are not in this table: they are sealed and never returned. */
const table = {
  id: assigned(uuid<'webhook'>()),
  account_id: internal<AccountId>(),
  destination_id: internal<DestinationId>(),
  url: required(url, { output: shownUrl, audit: 'hidden' }),
  method: optional(method, null),
  headers: optional(headers, {}, { output: shownHeaders, audit: 'hidden' }),
  has_credentials: computed(Type.Optional(Type.Boolean({ description: 'Only with nats and tls' })), { audit: 'shown' }),
  events: required(events),
  site_ids: optional(siteIds, null, { output: nullable(Type.Array(uuid<'site'>())) }),
  description: optional(description, null),
  ordering: optional(ordering, 'engagement', { output: oneOf(orderings) }),
  enabled: optional(enabled, true, { output: Type.Boolean() }),
  disabled_because: assigned(disabledBecause, 'omitted'),
  disabled_at: assigned(nullableTimestamp('When the webhook was disabled'), 'omitted'),
  failing_since: assigned(
    nullableTimestamp(
      'Since when it has been failing. After the first minute, ten minutes without a failed attempt end that; one success does not',
    ),
    'omitted',
  ),
  created_at: assigned(timestamp),
  updated_at: assigned(timestamp),
  registered_by: assigned(registrar),
  covered_site_ids: computed(coveredSites),
  filter: optional(filterSchema, null),
  /** The operator who last set the URL. The webhook covers a site only while this operator, too, is super_manager there. */
  url_set_by: internal<OperatorId | null>(),
  is_sample: internal<boolean>(),
  /** The sites that the webhook covers now; `null`: every site of the account. */
  covers: internal<readonly SiteId[] | null>(),
  version: internal<number>(),
};

export const webhookFields = fieldsOf(table);

const ownSecret = Type.Unsafe<string | null>({
  ...nullable(webhookSecret),
  description: 'As for rotate_secret. Null is the same as leaving it out; the answer has null with apns',
});
const givenCredentials = { credentials: Type.Optional(nullable(credentials)) };
const neededByUrl = requiredByUrl(channels);
export const webhookInput = documented(
  checked(
    body({ ...webhookFields.create, ...givenCredentials, secret: Type.Optional(ownSecret) }),
    registrationViolations,
  ),
  neededByUrl,
);
export const webhookUpdate = documented(
  checked(put({ ...webhookFields.update, ...givenCredentials }, webhookFields.readOnly), registrationViolations),
  neededByUrl,
);

function registrationViolations(value: unknown): readonly Violation[] {
  const { filter, events: subscribed }: Readonly<Record<string, unknown>> = { ...Object(value) };
  return [...webhookViolations(value), ...filterViolations(filter, subscribed)];
}

export const webhookOutput = output('Webhook', webhookFields.output);
export const newWebhookOutput = output('NewWebhook', {
  ...webhookFields.output,
  secret: nullable(Type.String({ description: 'Shown only once; null with apns, which has no secret' })),
});

export const rotationInput = checked(body({ secret: Type.Optional(webhookSecret) }), webhookViolations);
export const rotationOutput = output('RotatedSecret', {
  secret: Type.String({ description: 'Shown only once' }),
  old_secret_until: nullableTimestamp(
    'Until when requests are signed with the former secret too; null: there was none',
  ),
});

function nullableTimestamp(meaning: string) {
  return Type.Unsafe<Date | null>({ ...nullable(timestamp), description: meaning });
}

/** The columns that requests set. */
export type WebhookSettings = SettingsOf<typeof table>;

export interface WebhookRow extends RowOf<typeof table> {
  /** Present only with channels that have credentials. */
  readonly has_credentials?: boolean;
  readonly covered_site_ids: SiteId[];
  /** The sites that anybody but the registrar must be super_manager of; `null`: every site of the account. */
  readonly reach_site_ids: SiteId[] | null;
}

/** The webhook as responses show it. */
export function shownWebhook({ has_credentials, ...webhook }: WebhookRow): WebhookRow {
  const signsIn = 'credentials' in channelOf(webhook.url).fields;
  return signsIn && has_credentials !== undefined ? { ...webhook, has_credentials } : webhook;
}

export type WebhookBody = Type.Static<typeof webhookUpdate>;

/** Fills in fields that were left out. The method belongs to the URL: left out, it is unset. Only channels with headers keep them. */
export function completeWebhook(given: WebhookBody, current: WebhookSettings | null): WebhookSettings {
  const webhook = webhookFields.complete(given, current);
  const { site_ids: sites } = webhook;
  return {
    ...webhook,
    method: given.method ?? null,
    headers: 'headers' in channelOf(given.url).fields ? (webhook.headers ?? {}) : null,
    events: [...new Set(given.events)],
    site_ids: sites === null ? null : [...new Set(sites)],
  };
}
