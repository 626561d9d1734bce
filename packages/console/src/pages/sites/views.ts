import type { FieldViews } from '../../components/conflict.tsx';
import { inWordsOf, type SiteDraft } from './draft.ts';

const list = (values: readonly string[]): string => (values.length === 0 ? 'none' : values.join(', '));

/** Whose messages a webhook hears that came with a ticket or request. */
export const audienceNames: Readonly<Record<SiteDraft['attached_webhook_messages'], string>> = {
  own: 'of the side that attached the webhook',
  other: 'of the other side',
  all: 'of both sides',
};

/** How the fields are called and shown where two versions meet. */
export const siteViews: FieldViews<SiteDraft> = {
  name: { label: 'Name', show: (name) => name },
  addresses: { label: 'Addresses', show: list },
  time_zone: { label: 'Time zone', show: (zone) => zone ?? 'not set' },
  reactive_call_timeout: { label: 'Operator answers within', show: inWordsOf },
  proactive_call_timeout: { label: 'Visitor answers within', show: inWordsOf },
  missed_call_unavailability_enabled: {
    label: 'An operator who misses an offer is set away',
    show: (enabled) => (enabled ? 'yes' : 'no'),
  },
  queue_ticket_timeout_sec: { label: 'Visitor waits at most', show: inWordsOf },
  visitor_webhooks: { label: 'Visitors can attach webhooks', show: (allowed) => (allowed ? 'yes' : 'no') },
  allowed_file_content_types: { label: 'Types of files', show: list },
  allowed_file_senders: {
    label: 'Who may send files',
    show: ({ operator, visitor }) => list([...(operator ? ['operators'] : []), ...(visitor ? ['visitors'] : [])]),
  },
  allowed_origins: { label: 'Allowed origins', show: list },
  visitor_limits: {
    label: 'Limits per address',
    show: (limits) =>
      [
        `${limits.new_visitors_per_minute} new visitors a minute`,
        `${limits.open_tickets_per_address} waiting`,
        `${limits.open_feeds_per_address} live connections`,
      ].join(', '),
  },
  ticket_needs_presence: {
    label: 'Remove visitors who are not there from the queue',
    show: (needed) => (needed ? 'yes' : 'no'),
  },
  attached_webhook_messages: { label: 'Messages of webhooks on tickets', show: (whose) => audienceNames[whose] },
  lenient_requests: { label: 'Ignore unknown fields', show: (ignored) => (ignored ? 'yes' : 'no') },
};
