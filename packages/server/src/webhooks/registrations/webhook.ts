import Type from 'typebox';
import type { DestinationId } from '../../events/destination.ts';
import { webhookFields as subscriptionFields, webhookViolations } from '../../events/subscription.ts';
import { assigned, computed, fieldsOf, internal, optional, required } from '../../platform/fields.ts';
import type { RowOf, SettingsOf } from '../../platform/fields.ts';
import type { AccountId, OperatorId, SiteId } from '../../platform/ids.ts';
import {
  body,
  checked,
  description,
  list,
  nullable,
  oneOf,
  output,
  put,
  timestamp,
  uuid,
} from '../../platform/schema.ts';
import { channelOf } from '../channels/channels.ts';
import { webhookSecret } from '../channels/webhook-secret.ts';

const orderings = ['engagement', 'none'] as const;
const reasons = ['asked', 'gone', 'failing', 'token_ended'] as const;

const { url, method, headers, credentials, events } = subscriptionFields;

const shownUrl = Type.String({ description: 'Only its origin to a registrar who may no longer change it' });
const shownHeaders = Type.Unsafe<Record<string, string> | null>({
  ...nullable(headers),
  description: 'None are shown to a registrar who may no longer change it',
});
const siteIds = Type.Unsafe<SiteId[]>({
  ...list(uuid<'site'>(), { minItems: 1 }),
  description:
    'Sites it hears of; none: every site that its registrar is super_manager of, now and as that changes, or every site of ' +
    'the account where registered_by is null. covered_site_ids says which these are',
});
const ordering = Type.Unsafe<(typeof orderings)[number]>({
  ...oneOf(orderings),
  description: 'engagement (the default): events of an engagement arrive in their order; none: as they come',
});
const enabled = Type.Boolean({ description: 'true unless said otherwise; what happens meanwhile is held' });
const disabledBecause = Type.Unsafe<(typeof reasons)[number] | null>({
  ...nullable(oneOf(reasons)),
  description: 'asked for; gone: 410 was answered; failing: nothing arrived for days; token_ended: Apple says so',
});
const registrar = Type.Unsafe<OperatorId | null>({
  ...nullable(uuid<'operator'>()),
  description:
    'The operator who registered it; null: it was registered before that was kept and the audit log does not tell by whom, or ' +
    'it belongs to the sample data',
});
const coveredSites = Type.Array(uuid<'site'>(), {
  description:
    'The sites it hears of now: those of site_ids, or of all, that its registrar is super_manager of, as is whoever gave it its ' +
    'URL. Where registered_by is null, those of site_ids, or all',
});

/** The secret and the credentials are not in the table: they are sealed, and never read back as they were given. */
const table = {
  id: assigned(uuid<'webhook'>()),
  account_id: internal<AccountId>(),
  destination_id: internal<DestinationId>(),
  url: required(url, { output: shownUrl, audit: 'hidden' }),
  method: optional(method, null),
  headers: optional(headers, {}, { output: shownHeaders, audit: 'hidden' }),
  has_credentials: computed(Type.Optional(Type.Boolean({ description: 'With nats and tls only' })), { audit: 'shown' }),
  events: required(events),
  site_ids: optional(siteIds, null, { output: nullable(Type.Array(uuid<'site'>())) }),
  description: optional(description, null),
  ordering: optional(ordering, 'engagement', { output: oneOf(orderings) }),
  enabled: optional(enabled, true, { output: Type.Boolean() }),
  disabled_because: assigned(disabledBecause, 'omitted'),
  disabled_at: assigned(nullableTimestamp('Since when it has been disabled'), 'omitted'),
  failing_since: assigned(nullableTimestamp('Since when nothing has arrived'), 'omitted'),
  created_at: assigned(timestamp),
  updated_at: assigned(timestamp),
  registered_by: assigned(registrar),
  covered_site_ids: computed(coveredSites),
  /** Who last gave it its URL: it hears of a site only while they, too, are super_manager there. */
  url_set_by: internal<OperatorId | null>(),
  is_sample: internal<boolean>(),
  /** The sites it hears of now; `null`: every site of the account. */
  covers: internal<readonly SiteId[] | null>(),
  version: internal<number>(),
};

export const webhookFields = fieldsOf(table);

const ownSecret = Type.Unsafe<string | null>({
  ...nullable(webhookSecret),
  description: 'As for rotate_secret. Null is the same as none: the answer to a registration with apns has it',
});
const givenCredentials = { credentials: Type.Optional(nullable(credentials)) };
export const webhookInput = checked(
  body({ ...webhookFields.create, ...givenCredentials, secret: Type.Optional(ownSecret) }),
  webhookViolations,
);
export const webhookUpdate = checked(
  put({ ...webhookFields.update, ...givenCredentials }, webhookFields.readOnly),
  webhookViolations,
);
export const webhookOutput = output('Webhook', webhookFields.output);
export const newWebhookOutput = output('NewWebhook', {
  ...webhookFields.output,
  secret: nullable(Type.String({ description: 'Shown this once; null with apns, where there is none' })),
});

export const rotationInput = checked(body({ secret: Type.Optional(webhookSecret) }), webhookViolations);
export const rotationOutput = output('RotatedSecret', {
  secret: Type.String({ description: 'Shown this once' }),
  old_secret_until: nullableTimestamp('Until then requests are signed with the former one too; null: there was none'),
});

function nullableTimestamp(meaning: string) {
  return Type.Unsafe<Date | null>({ ...nullable(timestamp), description: meaning });
}

/** What requests set in the row. */
export type WebhookSettings = SettingsOf<typeof table>;

export interface WebhookRow extends RowOf<typeof table> {
  /** Only with channels that sign in, once it is shown. */
  readonly has_credentials?: boolean;
  readonly covered_site_ids: SiteId[];
  /** What somebody else must be super_manager of to see it; `null`: every site of the account. */
  readonly reach_site_ids: SiteId[] | null;
}

/** As answers have it. */
export function shownWebhook({ has_credentials, ...webhook }: WebhookRow): WebhookRow {
  const signsIn = 'credentials' in channelOf(webhook.url).fields;
  return signsIn && has_credentials !== undefined ? { ...webhook, has_credentials } : webhook;
}

export type WebhookGiven = Type.Static<typeof webhookUpdate>;

/** The method goes with the URL: it is given again or unset. Headers are kept by channels that have them. */
export function completeWebhook(given: WebhookGiven, current: WebhookSettings | null): WebhookSettings {
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
