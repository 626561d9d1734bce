import { isUuid } from '../../platform/ids.ts';
import type { OutgoingEvent } from '../channel.ts';
import type { ApnsTarget } from './url.ts';

/** Apple's limit. */
export const maxPayloadBytes = 4_096;

/**
 * How long Apple stores a notification that it cannot deliver at once: as long as we retry an event. Apple stores one notification
 * per application and device, so short-lived events must not replace others.
 */
const storedForSec = 3 * 24 * 3600;
const shortLived = /^engagement\.chat\.typing_indicator\./;

/** The headers without authorization, which the sender adds. */
export function headersOf(target: ApnsTarget, event: OutgoingEvent, now: Date): Record<string, string> {
  const expiration = shortLived.test(event.type) ? 0 : Math.floor(now.getTime() / 1000) + storedForSec;
  return {
    ':method': 'POST',
    ':path': `/3/device/${target.deviceToken}`,
    'apns-topic': target.topic,
    'apns-push-type': target.contentAvailable ? 'background' : 'alert',
    'apns-priority': target.contentAvailable ? '5' : '10',
    'apns-expiration': String(expiration),
    // Apple requires a UUID in lower case, and refuses the notification for any other id.
    ...(isUuid(event.id) ? { 'apns-id': event.id.toLowerCase() } : {}),
    'content-type': 'application/json',
  };
}

/** The body, at most `maxPayloadBytes`: if the event does not fit, only its common fields and ids are sent. */
export function bodyOf(target: ApnsTarget, event: OutgoingEvent): string {
  const whole = wrap(target, event, event.json);
  if (fits(whole)) return whole;
  const { ids, dispatchedAt } = outlineOf(event.json);
  const common = { event_type: event.type, event_id: event.id, ...dispatchedAt };
  // In a spread, a field keeps the position of its first mention and the value of its last: so the common fields come first, with our values.
  const withIds = wrap(target, event, JSON.stringify({ ...common, ...ids, ...common, truncated: true }));
  if (fits(withIds)) return withIds;
  const minimal = wrap(target, event, JSON.stringify({ ...common, truncated: true }));
  if (!fits(minimal)) throw new Error('the type or the id of the event is too long for a notification');
  return minimal;
}

/** The payload is inserted unchanged. */
function wrap(target: ApnsTarget, { type }: OutgoingEvent, data: string): string {
  const aps = target.contentAvailable
    ? { 'content-available': 1 }
    : // `mutable-content` lets the application replace the text, using `data`, before it is shown.
      { alert: alertText(type), 'mutable-content': 1 };
  const fields = JSON.stringify({ aps, message: type, content_available: target.contentAvailable });
  return `${fields.slice(0, -1)},"data":${data}}`;
}

function fits(body: string): boolean {
  return Buffer.byteLength(body) <= maxPayloadBytes;
}

/** For example "Engagement chat message status" for `engagement.chat.message_status`. */
function alertText(type: string): string {
  const words = type.replaceAll(/[._]+/g, ' ').trim();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

type Ids = Readonly<Record<string, unknown>>;

/** Our ids are shorter. */
const maxIdLength = 64;
/** No event has ids at a greater depth. */
const maxDepth = 4;

/** Our instants are shorter. */
const maxInstantLength = 40;

/**
 * `dispatched_at` of the event, and all fields whose name is or ends with `id`, nested as in the payload:
 * `{"message": {"id": …, "sender": {"id": …}}}`. Both are empty if the payload is not valid JSON.
 */
function outlineOf(json: string): { readonly ids: Ids; readonly dispatchedAt: { readonly dispatched_at?: string } } {
  let payload: unknown;
  try {
    payload = JSON.parse(json);
  } catch {
    return { ids: {}, dispatchedAt: {} };
  }
  const at: unknown =
    typeof payload === 'object' && payload !== null ? Reflect.get(payload, 'dispatched_at') : undefined;
  const isInstant = typeof at === 'string' && at.length <= maxInstantLength;
  return { ids: pickIds(payload, maxDepth), dispatchedAt: isInstant ? { dispatched_at: at } : {} };
}

function pickIds(value: unknown, depth: number): Ids {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || depth === 0) return {};
  const found = Object.entries(value).flatMap(([name, inside]): [string, unknown][] => {
    if (typeof inside === 'string') return isId(name, inside) ? [[name, inside]] : [];
    const ids = pickIds(inside, depth - 1);
    return Object.keys(ids).length === 0 ? [] : [[name, ids]];
  });
  return Object.fromEntries(found);
}

function isId(name: string, value: string): boolean {
  return /(?:^|_)id$/.test(name) && value.length <= maxIdLength;
}
