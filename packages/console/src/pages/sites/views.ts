import type { FieldViews } from '../../components/conflict.tsx';
import { inWordsOf, type SiteDraft } from './draft.ts';
import { texts } from './texts.ts';

const list = (values: readonly string[]): string => (values.length === 0 ? 'none' : values.join(', '));

/** Whose messages an attached webhook receives. */
export const audienceNames: Readonly<Record<SiteDraft['attached_webhook_messages'], string>> = {
  own: texts.ofAttachingSide,
  other: texts.ofOtherSide,
  all: texts.ofBothSides,
};

/** How the fields are shown when two versions are compared. */
export const siteViews: FieldViews<SiteDraft> = {
  name: { label: texts.name, show: (name) => name },
  addresses: { label: texts.siteUrls, show: list },
  time_zone: { label: texts.timeZone, show: (zone) => zone ?? texts.notSetValue },
  reactive_call_timeout: { label: texts.offerTimeout, show: inWordsOf },
  proactive_call_timeout: { label: texts.visitorRequestTimeout, show: inWordsOf },
  missed_call_unavailability_enabled: {
    label: texts.setOperatorsAwayAfterMissedOffer,
    show: (enabled) => (enabled ? 'yes' : 'no'),
  },
  queue_ticket_timeout_sec: { label: texts.maxWait, show: inWordsOf },
  visitor_webhooks: { label: texts.visitorsCanAttachWebhooks, show: (allowed) => (allowed ? 'yes' : 'no') },
  allowed_file_content_types: { label: texts.allowedFileTypes, show: list },
  allowed_file_senders: {
    label: texts.whoCanSendFiles,
    show: ({ operator, visitor }) => list([...(operator ? ['operators'] : []), ...(visitor ? ['visitors'] : [])]),
  },
  allowed_origins: { label: texts.allowedOrigins, show: list },
  visitor_limits: {
    label: texts.limitsPerIpAddress,
    show: (limits) =>
      [
        texts.newVisitorsPerMinuteCount(limits.new_visitors_per_minute),
        texts.waitingPerAddress(limits.open_tickets_per_address),
        texts.liveConnectionsPerAddress(limits.open_feeds_per_address),
      ].join(', '),
  },
  ticket_needs_presence: {
    label: texts.removeAbsentVisitorsFromQueue,
    show: (needed) => (needed ? 'yes' : 'no'),
  },
  attached_webhook_messages: { label: texts.messagesSentToAttachedWebhooks, show: (whose) => audienceNames[whose] },
  lenient_requests: { label: texts.ignoreUnknownFields, show: (ignored) => (ignored ? 'yes' : 'no') },
};
