import type { Site } from '@usher/sdk/api-types';
import { contentTypePattern } from '@usher/contract/content-type';
import { isOrigin } from '@usher/contract/origin';
import { texts } from './texts.ts';

/** The editable fields of a site. */
export type SiteDraft = Omit<Site, 'id' | 'created_at' | 'updated_at'>;

export function draftOf({ id: _id, created_at: _created, updated_at: _updated, ...fields }: Site): SiteDraft {
  return fields;
}

/** The server's defaults, shown before the site is created. */
export const newDraft: SiteDraft = {
  name: '',
  addresses: [],
  time_zone: null,
  reactive_call_timeout: 30,
  proactive_call_timeout: 15,
  missed_call_unavailability_enabled: true,
  calls_beside_chats: true,
  queue_ticket_timeout_sec: 14_400,
  visitor_webhooks: true,
  allowed_file_content_types: ['image/jpeg', 'image/png', 'image/gif', 'image/webp', 'application/pdf', 'text/plain'],
  allowed_file_senders: { operator: true, visitor: true },
  allowed_origins: [],
  visitor_limits: { new_visitors_per_minute: 60, open_tickets_per_address: 10, open_feeds_per_address: 100 },
  ticket_needs_presence: false,
  attached_webhook_messages: 'own',
  lenient_requests: false,
};

interface Violation {
  readonly attribute: string;
  readonly detail: string;
}

/** The origin of a typed or pasted URL, if it has one. */
export function originOf(text: string): string {
  const typed = text.trim();
  const address = /^[\w-]+(\.[\w-]+)+(:\d+)?(\/.*)?$/.test(typed) ? `https://${typed}` : typed;
  if (!URL.canParse(address)) return typed;
  const { protocol, origin } = new URL(address);
  return ['http:', 'https:'].includes(protocol) ? origin : typed;
}

const contentType = new RegExp(contentTypePattern);

/** Errors that the server would report, shown while typing. */
export function findViolations(draft: SiteDraft): Violation[] {
  const origins = draft.allowed_origins.filter((origin) => !isOrigin(origin));
  const types = draft.allowed_file_content_types.filter((type) => !contentType.test(type));
  return [
    ...origins.map((origin) => ({
      attribute: '/allowed_origins',
      detail: texts.notAnOrigin(origin),
    })),
    ...types.map((type) => ({
      attribute: '/allowed_file_content_types',
      detail: texts.notAContentType(type),
    })),
  ];
}

/** `90` → `1 min 30 s`. */
export function describeDuration(seconds: number): string {
  if (!Number.isFinite(seconds)) return '';
  const amounts = [
    [Math.floor(seconds / 86_400), texts.days],
    [Math.floor((seconds % 86_400) / 3_600), texts.hours],
    [Math.floor((seconds % 3_600) / 60), texts.minutes],
    [Math.floor(seconds % 60), texts.seconds],
  ] as const;
  const nonZero = amounts.filter(([count]) => count > 0).map(([count, unit]) => unit(count));
  return nonZero.length === 0 ? texts.zeroSeconds : nonZero.join(' ');
}
