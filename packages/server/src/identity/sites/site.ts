import { contentTypePattern } from '@usher/contract/content-type';
import { maxOfferTimeoutSec, maxPerAddress, maxTicketTimeoutSec } from '@usher/contract/limits';
import { messageAudiences, type MessageAudience } from '@usher/contract/states';
import Type from 'typebox';
import { assigned, fieldsOf, internal, optional, required } from '../../platform/database/fields.ts';
import type { RowOf, SettingsOf } from '../../platform/database/fields.ts';
import type { AccountId } from '../../platform/ids.ts';
import { body, description, list, name, oneOf, output, timestamp, update, uuid } from '../../platform/schema.ts';

const seconds = (maximum: number) => Type.Integer({ minimum: 1, maximum });
const contentType = Type.String({ maxLength: 255, pattern: contentTypePattern });
const origin = Type.String({ maxLength: 255, format: 'origin' });
const visitorLimits = Type.Object(
  {
    new_visitors_per_minute: Type.Integer({
      minimum: 1,
      maximum: maxPerAddress,
      description: 'Visitors that one address may create per minute (also the burst) with a publishable token',
    }),
    open_tickets_per_address: Type.Integer({
      minimum: 1,
      maximum: maxPerAddress,
      description: 'Open tickets and pending requests to operators, for all visitors of one address together',
    }),
    open_feeds_per_address: Type.Integer({
      minimum: 1,
      maximum: maxPerAddress,
      description: 'Open live feeds per process, for all visitors of one address together',
    }),
  },
  {
    additionalProperties: false,
    description:
      'Limits for one address with a publishable token. Operators, secret application tokens and the visitors they create are not limited. IPv6 addresses are counted by their /64.',
  },
);
const fileSenders = Type.Object({ operator: Type.Boolean(), visitor: Type.Boolean() }, { additionalProperties: false });

const table = {
  id: assigned(uuid<'site'>()),
  account_id: internal<AccountId>(),
  name: required(name),
  addresses: optional(list(description), []),
  time_zone: optional(Type.String({ maxLength: 64, format: 'time-zone' }), null),
  reactive_call_timeout: optional(seconds(maxOfferTimeoutSec), 30),
  proactive_call_timeout: optional(seconds(maxOfferTimeoutSec), 15),
  missed_call_unavailability_enabled: optional(Type.Boolean(), true),
  calls_beside_chats: optional(
    Type.Boolean({
      description:
        'Whether a text engagement may become an audio or video call while its operator has other text engagements. During the ' +
        'call the operator is offered nothing. Off: the operator must have no other engagement or offer',
    }),
    true,
  ),
  queue_ticket_timeout_sec: optional(seconds(maxTicketTimeoutSec), 14_400),
  visitor_webhooks: optional(
    Type.Boolean({
      description:
        'Whether visitors may attach webhooks to tickets and requests. Webhooks that are attached already stay active until their ticket or engagement ends',
    }),
    true,
  ),
  allowed_file_content_types: optional(list(contentType), [
    'image/jpeg', 'image/png', 'image/gif', 'image/webp', 'application/pdf', 'text/plain',
  ]), // prettier-ignore
  allowed_file_senders: optional(fileSenders, { operator: true, visitor: true }, { stored: 'json' }),
  allowed_origins: optional(list(origin, { uniqueItems: true }), []),
  visitor_limits: optional(
    visitorLimits,
    { new_visitors_per_minute: 60, open_tickets_per_address: 10, open_feeds_per_address: 100 },
    { stored: 'json' },
  ),
  ticket_needs_presence: optional(
    Type.Boolean({
      description:
        'A ticket ends as visitor_left unless its visitor shows presence within a minute, and then at least every two minutes: by an open feed with hold_presence or by PUT /visitors/{visitor_id}/presence. Applies to tickets that are created while this is set',
    }),
    false,
  ),
  attached_webhook_messages: optional(
    Type.Unsafe<MessageAudience>({
      ...oneOf(messageAudiences),
      description:
        'Default of messages for webhooks that are attached to a ticket or request: own, other or all. Use other for bots and ' +
        'messenger bridges that cannot set it themselves. Applies to webhooks that are attached while this is set',
    }),
    'own',
  ),
  lenient_requests: optional(
    Type.Boolean({
      description:
        'Unknown fields and query parameters are ignored instead of refused in requests that concern this site, as with ' +
        'Prefer: handling=lenient',
    }),
    false,
  ),
  version: internal<number>(),
  created_at: assigned(timestamp),
  updated_at: assigned(timestamp),
};

export const siteFields = fieldsOf(table);
export const siteInput = body(siteFields.create);
export const siteUpdate = update(siteFields.update, siteFields.readOnly);
export const siteOutput = output('Site', siteFields.output);

export type SiteRow = RowOf<typeof table>;
export type SiteSettings = SettingsOf<typeof table>;

/** The property names that `JSON.stringify` keeps: the fields of a site and of its nested objects. */
const renderedProperties = [siteOutput, fileSenders, visitorLimits].flatMap(({ properties }) =>
  Object.keys(properties),
);

/** A site as JSON text. Callers cache it, because rendering is the most expensive part of reading a site. */
export function renderSite(site: SiteRow): string {
  return JSON.stringify(site, renderedProperties);
}
