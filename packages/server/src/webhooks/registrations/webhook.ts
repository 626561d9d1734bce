import Type from 'typebox';
import type { WebhookId } from '../../events/attach-webhooks.ts';
import type { EventType } from '../../events/catalogue.ts';
import type { DestinationId } from '../../events/destination.ts';
import { webhookFields, webhookViolations } from '../../events/subscription.ts';
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
import type { WebhookMethod } from '../channels/http.ts';
import { webhookSecret } from '../channels/webhook-secret.ts';

const orderings = ['engagement', 'none'] as const;
const reasons = ['asked', 'gone', 'failing', 'token_ended'] as const;

const { url, method, headers, credentials, events } = webhookFields;

const fields = {
  url,
  method: Type.Optional(nullable(method)),
  headers: Type.Optional(nullable(headers)),
  credentials: Type.Optional(nullable(credentials)),
  events,
  site_ids: Type.Optional(
    Type.Unsafe<SiteId[] | null>({
      ...nullable(list(uuid<'site'>(), { minItems: 1 })),
      description:
        'Sites it hears of; none: every site that its registrar is super_manager of, now and as that changes, or every site of ' +
        'the account where registered_by is null. covered_site_ids says which these are',
    }),
  ),
  description: Type.Optional(nullable(description)),
  ordering: Type.Optional(
    Type.Unsafe<(typeof orderings)[number] | null>({
      ...nullable(oneOf(orderings)),
      description: 'engagement (the default): events of an engagement arrive in their order; none: as they come',
    }),
  ),
  enabled: Type.Optional(
    Type.Unsafe<boolean | null>({
      ...nullable(Type.Boolean()),
      description: 'true unless said otherwise; what happens meanwhile is held',
    }),
  ),
};

const readOnly = [
  'id',
  'has_credentials',
  'disabled_because',
  'disabled_at',
  'failing_since',
  'created_at',
  'updated_at',
  'registered_by',
  'covered_site_ids',
];

const ownSecret = Type.Unsafe<string | null>({
  ...nullable(webhookSecret),
  description: 'As for rotate_secret. Null is the same as none: the answer to a registration with apns has it',
});
export const webhookInput = checked(body({ ...fields, secret: Type.Optional(ownSecret) }), webhookViolations);
export const webhookUpdate = checked(put(fields, readOnly), webhookViolations);

const outputFields = {
  id: uuid<'webhook'>(),
  url: Type.String({ description: 'Only its origin to a registrar who may no longer change it' }),
  method: nullable(method),
  headers: Type.Unsafe<Record<string, string> | null>({
    ...nullable(headers),
    description: 'None are shown to a registrar who may no longer change it',
  }),
  has_credentials: Type.Boolean(),
  events,
  site_ids: nullable(Type.Array(uuid<'site'>())),
  description: nullable(description),
  ordering: oneOf(orderings),
  enabled: Type.Boolean(),
  disabled_because: Type.Unsafe<(typeof reasons)[number] | null>({
    ...nullable(oneOf(reasons)),
    description: 'asked for; gone: 410 was answered; failing: nothing arrived for days; token_ended: Apple says so',
  }),
  disabled_at: nullableTimestamp('Since when it has been disabled'),
  failing_since: nullableTimestamp('Since when nothing has arrived'),
  created_at: timestamp,
  updated_at: timestamp,
  registered_by: Type.Unsafe<OperatorId | null>({
    ...nullable(uuid<'operator'>()),
    description:
      'The operator who registered it; null: it was registered before that was kept and the audit log does not tell by whom, or ' +
      'it belongs to the sample data',
  }),
  covered_site_ids: Type.Array(uuid<'site'>(), {
    description:
      'The sites it hears of now: those of site_ids, or of all, that its registrar is super_manager of, as is whoever gave it its ' +
      'URL. Where registered_by is null, those of site_ids, or all',
  }),
};

export const webhookOutput = output('Webhook', outputFields);
export const newWebhookOutput = output('NewWebhook', {
  ...outputFields,
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

/** What is written of a webhook by whoever registers it, its secret aside. */
export interface StoredWebhook {
  readonly url: string;
  /** `null` with channels that do not have them. */
  readonly method: WebhookMethod | null;
  readonly headers: Record<string, string> | null;
  readonly events: EventType[];
  /** `null`: all that its registrar is super_manager of. */
  readonly site_ids: SiteId[] | null;
  readonly description: string | null;
  readonly ordering: (typeof orderings)[number];
  readonly enabled: boolean;
}

export interface WebhookRow extends StoredWebhook {
  readonly id: WebhookId;
  readonly has_credentials: boolean;
  readonly registered_by: OperatorId | null;
  /** Who last gave it its URL: it hears of a site only while they, too, are super_manager there. */
  readonly url_set_by: OperatorId | null;
  readonly is_sample: boolean;
  /** The sites it hears of now; `null`: every site of the account. */
  readonly covers: readonly SiteId[] | null;
  readonly covered_site_ids: SiteId[];
  /** What somebody else must be super_manager of to see it; `null`: every site of the account. */
  readonly reach_site_ids: SiteId[] | null;
  readonly account_id: AccountId;
  readonly destination_id: DestinationId;
  readonly disabled_because: (typeof reasons)[number] | null;
  readonly disabled_at: Date | null;
  readonly failing_since: Date | null;
  readonly version: number;
  readonly created_at: Date;
  readonly updated_at: Date;
}

export type WebhookGiven = Type.Static<typeof webhookUpdate>;

const unset: Omit<StoredWebhook, 'url' | 'method' | 'events'> = {
  headers: {},
  site_ids: null,
  description: null,
  ordering: 'engagement',
  enabled: true,
};

/** D7.2: an optional field left out keeps its value (or is unset, in a new webhook); null unsets it. */
export function completeWebhook(given: WebhookGiven, current: StoredWebhook | null): StoredWebhook {
  const before = current ?? unset;
  const keep = <Field extends keyof typeof unset>(field: Field): (typeof unset)[Field] =>
    given[field] === undefined ? before[field] : ((given[field] ?? unset[field]) as (typeof unset)[Field]);
  const sites = keep('site_ids');
  return {
    url: given.url,
    method: given.method ?? null,
    headers: 'headers' in channelOf(given.url).fields ? (keep('headers') ?? {}) : null,
    events: [...new Set(given.events)],
    site_ids: sites === null ? null : [...new Set(sites)],
    description: keep('description'),
    ordering: keep('ordering'),
    enabled: keep('enabled'),
  };
}
