import { maxOfferTimeoutSec, maxPerAddress, maxTicketTimeoutSec } from '@usher/contract/limits';
import { messageAudiences, type MessageAudience } from '@usher/contract/states';
import Type from 'typebox';
import type { AccountId, SiteId } from '../../platform/ids.ts';
import {
  body,
  description,
  list,
  name,
  nullable,
  oneOf,
  output,
  timestamp,
  update,
  uuid,
} from '../../platform/schema.ts';

const seconds = (maximum: number) => Type.Integer({ minimum: 1, maximum });
const contentType = Type.String({ maxLength: 255, pattern: String.raw`^[\w.+-]+/(?:[\w.+-]+|\*)$` });
const origin = Type.String({ maxLength: 255, format: 'origin' });
const visitorLimits = Type.Object(
  {
    new_visitors_per_minute: Type.Integer({
      minimum: 1,
      maximum: maxPerAddress,
      description: 'Visitors that one address may create in a minute, and at once, with a publishable token',
    }),
    open_tickets_per_address: Type.Integer({
      minimum: 1,
      maximum: maxPerAddress,
      description: 'Open tickets, and pending requests to operators, of all visitors of one address together',
    }),
    open_feeds_per_address: Type.Integer({
      minimum: 1,
      maximum: maxPerAddress,
      description: 'Live feeds that visitors of one address may have open in one process',
    }),
  },
  {
    additionalProperties: false,
    description:
      'What one address may have with a publishable token. Secret application tokens and the visitors they create, and operators, are not limited. IPv6 addresses count by their /64.',
  },
);
const fileSenders = Type.Object({ operator: Type.Boolean(), visitor: Type.Boolean() }, { additionalProperties: false });

/** What an optional field is while nobody has set it. */
export const siteDefaults = {
  addresses: [] as string[],
  time_zone: null as string | null,
  reactive_call_timeout: 30,
  proactive_call_timeout: 15,
  missed_call_unavailability_enabled: true,
  queue_ticket_timeout_sec: 14_400,
  visitor_webhooks: true,
  allowed_file_content_types: ['image/jpeg', 'image/png', 'image/gif', 'image/webp', 'application/pdf', 'text/plain'],
  allowed_file_senders: { operator: true, visitor: true },
  allowed_origins: [] as string[],
  visitor_limits: { new_visitors_per_minute: 60, open_tickets_per_address: 10, open_feeds_per_address: 100 },
  ticket_needs_presence: false,
  attached_webhook_messages: 'own' as MessageAudience,
  lenient_requests: false,
};

const settings = {
  addresses: list(description),
  time_zone: Type.String({ maxLength: 64, format: 'time-zone' }),
  reactive_call_timeout: seconds(maxOfferTimeoutSec),
  proactive_call_timeout: seconds(maxOfferTimeoutSec),
  missed_call_unavailability_enabled: Type.Boolean(),
  queue_ticket_timeout_sec: seconds(maxTicketTimeoutSec),
  visitor_webhooks: Type.Boolean({
    description:
      'Whether visitors may bring webhooks along with tickets and requests. Those brought along before are called until their ticket or engagement ends',
  }),
  allowed_file_content_types: list(contentType),
  allowed_file_senders: fileSenders,
  allowed_origins: list(origin, { uniqueItems: true }),
  visitor_limits: visitorLimits,
  ticket_needs_presence: Type.Boolean({
    description:
      'A ticket ends as visitor_left unless its visitor gives a sign of life within a minute, and then at least every two minutes: an open feed with hold_presence, or PUT /visitors/{visitor_id}/presence. For tickets that are made while it is set',
  }),
  attached_webhook_messages: Type.Unsafe<MessageAudience>({
    ...oneOf(messageAudiences),
    description:
      'What messages means where a webhook that comes with a ticket or request leaves it out: own, other or all. Set other for ' +
      'bots and bridges to other messengers that cannot say it. For webhooks that are attached while it is set',
  }),
  lenient_requests: Type.Boolean({
    description:
      'Fields and query parameters that are not known are ignored instead of refused, in requests that concern this site, as if ' +
      'they said Prefer: handling=lenient',
  }),
};

const settable = {
  addresses: Type.Optional(nullable(settings.addresses)),
  time_zone: Type.Optional(nullable(settings.time_zone)),
  reactive_call_timeout: Type.Optional(nullable(settings.reactive_call_timeout)),
  proactive_call_timeout: Type.Optional(nullable(settings.proactive_call_timeout)),
  missed_call_unavailability_enabled: Type.Optional(nullable(settings.missed_call_unavailability_enabled)),
  queue_ticket_timeout_sec: Type.Optional(nullable(settings.queue_ticket_timeout_sec)),
  visitor_webhooks: Type.Optional(nullable(settings.visitor_webhooks)),
  allowed_file_content_types: Type.Optional(nullable(settings.allowed_file_content_types)),
  allowed_file_senders: Type.Optional(nullable(settings.allowed_file_senders)),
  allowed_origins: Type.Optional(nullable(settings.allowed_origins)),
  visitor_limits: Type.Optional(nullable(settings.visitor_limits)),
  ticket_needs_presence: Type.Optional(nullable(settings.ticket_needs_presence)),
  attached_webhook_messages: Type.Optional(nullable(settings.attached_webhook_messages)),
  lenient_requests: Type.Optional(nullable(settings.lenient_requests)),
};

export const siteInput = body({ name, ...settable });
export const siteUpdate = update({ name, ...settable }, ['id', 'created_at', 'updated_at']);

export const siteOutput = output('Site', {
  id: uuid<'site'>(),
  name,
  ...settings,
  time_zone: nullable(settings.time_zone),
  created_at: timestamp,
  updated_at: timestamp,
});

type SiteUpdate = Type.Static<typeof siteUpdate>;

/** A site as stored: what the API shows, whose it is, and how often it has changed. */
export interface SiteRow extends Type.Static<typeof siteOutput> {
  readonly id: SiteId;
  readonly account_id: AccountId;
  readonly version: number;
}

export type SiteSettings = Pick<SiteRow, 'name' | keyof typeof siteDefaults>;

/** The fields of a site, and those of the objects among them. */
const shown = [siteOutput, fileSenders, visitorLimits].flatMap(({ properties }) => Object.keys(properties));

/** A site as JSON, for those who keep it: rendering costs more than everything else about reading one. */
export function renderSite(site: SiteRow): string {
  return JSON.stringify(site, shown);
}

/** `null` unsets a setting: it is its default again. */
export function withDefaults(given: SiteUpdate): Partial<SiteSettings> {
  const entries = Object.entries(given).filter(([field]) => field === 'name' || field in siteDefaults);
  return Object.fromEntries(
    entries.map(([field, value]) => [field, value ?? siteDefaults[field as keyof typeof siteDefaults]]),
  );
}
