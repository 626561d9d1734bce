import { isUuid } from '../../../platform/ids.ts';
import type { OutgoingEvent } from '../channel.ts';
import type { ApnsTarget } from './url.ts';

/** Apple takes no more. */
export const mostPayloadBytes = 4_096;

/**
 * For how long Apple keeps what it cannot deliver at once: for as long as we ourselves try to deliver an event. Apple keeps
 * one notification per application and device, so what is out of date at once must not push out another.
 */
const keptForSec = 3 * 24 * 3600;
const shortLived = /^engagement\.chat\.typing_indicator\./;

/** Without the authorization, which is not the event's. */
export function headersOf(target: ApnsTarget, event: OutgoingEvent, now: Date): Record<string, string> {
  const expiration = shortLived.test(event.type) ? 0 : Math.floor(now.getTime() / 1000) + keptForSec;
  return {
    ':method': 'POST',
    ':path': `/3/device/${target.deviceToken}`,
    'apns-topic': target.topic,
    'apns-push-type': target.contentAvailable ? 'background' : 'alert',
    'apns-priority': target.contentAvailable ? '5' : '10',
    'apns-expiration': String(expiration),
    // Apple wants a UUID in lower case, and refuses the notification for any other id.
    ...(isUuid(event.id) ? { 'apns-id': event.id.toLowerCase() } : {}),
    'content-type': 'application/json',
  };
}

/** The body, of `mostPayloadBytes` at most: where the event does not fit, its common fields and its ids stand for it. */
export function bodyOf(target: ApnsTarget, event: OutgoingEvent): string {
  const whole = wrap(target, event, event.json);
  if (fits(whole)) return whole;
  const { ids, dispatchedAt } = outlineOf(event.json);
  const common = { event_type: event.type, event_id: event.id, ...dispatchedAt };
  // A field keeps the place of its first mention and the value of its last: the common fields come first, and stay true.
  const withIds = wrap(target, event, JSON.stringify({ ...common, ...ids, ...common, truncated: true }));
  if (fits(withIds)) return withIds;
  const least = wrap(target, event, JSON.stringify({ ...common, truncated: true }));
  if (!fits(least)) throw new Error('the type or the id of an event is longer than any event type or id');
  return least;
}

/** The payload is put in as it is, character by character. */
function wrap(target: ApnsTarget, { type }: OutgoingEvent, data: string): string {
  const aps = target.contentAvailable
    ? { 'content-available': 1 }
    : // So that the application may say it in its own words, from `data`, before it is shown.
      { alert: inWords(type), 'mutable-content': 1 };
  const fields = JSON.stringify({ aps, message: type, content_available: target.contentAvailable });
  return `${fields.slice(0, -1)},"data":${data}}`;
}

function fits(body: string): boolean {
  return Buffer.byteLength(body) <= mostPayloadBytes;
}

/** `engagement.chat.message_status`: Engagement chat message status. */
function inWords(type: string): string {
  const words = type.replaceAll(/[._]+/g, ' ').trim();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

type Ids = Readonly<Record<string, unknown>>;

/** No id of ours is longer. */
const longestId = 64;
/** Nothing in an event that is named by an id of its own lies deeper. */
const deepest = 4;

/** No instant is written longer. */
const longestInstant = 40;

/**
 * When the event happened; and what is called `id` or ends so, where it stood:
 * `{"message": {"id": …, "sender": {"id": …}}}`. A payload that is not as we write them has neither.
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
  const isInstant = typeof at === 'string' && at.length <= longestInstant;
  return { ids: pick(payload, deepest), dispatchedAt: isInstant ? { dispatched_at: at } : {} };
}

function pick(value: unknown, depth: number): Ids {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || depth === 0) return {};
  const found = Object.entries(value).flatMap(([name, inside]): [string, unknown][] => {
    if (typeof inside === 'string') return isId(name, inside) ? [[name, inside]] : [];
    const ids = pick(inside, depth - 1);
    return Object.keys(ids).length === 0 ? [] : [[name, ids]];
  });
  return Object.fromEntries(found);
}

function isId(name: string, value: string): boolean {
  return /(?:^|_)id$/.test(name) && value.length <= longestId;
}
