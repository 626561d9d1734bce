import type { FieldViews } from '../../components/editing/conflict.tsx';
import { describeDuration, type SiteDraft } from './draft.ts';
import { texts } from './texts.ts';

const list = (values: readonly string[]): string => (values.length === 0 ? texts.noneValue : values.join(', '));

/** Whose messages an attached webhook receives. */
export const audienceNames: Readonly<Record<SiteDraft['attached_webhook_messages'], string>> = {
  own: texts.messagesOfAttachingSide,
  other: texts.messagesOfOtherSide,
  all: texts.messagesOfBothSides,
};

/** How the fields are shown when two versions are compared. */
export const siteViews: FieldViews<SiteDraft> = {
  name: { label: texts.name, show: (name) => name },
  addresses: { label: texts.siteUrls, show: list },
  time_zone: { label: texts.timeZone, show: (zone) => zone ?? texts.notSetValue },
  reactive_call_timeout: { label: texts.offerTimeout, show: describeDuration },
  proactive_call_timeout: { label: texts.visitorRequestTimeout, show: describeDuration },
  missed_call_unavailability_enabled: {
    label: texts.setOperatorsAwayAfterMissedOffer,
    show: (enabled) => (enabled ? texts.yes : texts.no),
  },
  calls_beside_chats: { label: texts.allowCallsBesideChats, show: (allowed) => (allowed ? texts.yes : texts.no) },
  queue_ticket_timeout_sec: { label: texts.maxWait, show: describeDuration },
  visitor_webhooks: { label: texts.visitorsCanAttachWebhooks, show: (allowed) => (allowed ? texts.yes : texts.no) },
  allowed_file_content_types: { label: texts.allowedFileTypes, show: list },
  allowed_file_senders: {
    label: texts.whoCanSendFiles,
    show: ({ operator, visitor }) =>
      list([...(operator ? [texts.operators] : []), ...(visitor ? [texts.visitors] : [])]),
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
    show: (needed) => (needed ? texts.yes : texts.no),
  },
  attached_webhook_messages: { label: texts.messagesSentToAttachedWebhooks, show: (whose) => audienceNames[whose] },
  lenient_requests: { label: texts.ignoreUnknownFields, show: (ignored) => (ignored ? texts.yes : texts.no) },
};
