import { traitsOf, webhookEventTypes } from '../events/catalogue.ts';
import { hasSecrets, type StoredEvent } from '../events/event-secrets.ts';
import type { About } from '../events/append.ts';
import type { ReceivedSignal } from '../engagements/signals/pieces.ts';
import { maySeeWebhook, opensTo, opensToPrevious, opensToSide, opensToWebhook, type Key } from './audience.ts';
import type { Caller } from '../identity/caller.ts';
import type { FeedData, FeedItemType } from './catalogue.ts';
import type { LoggedEvent } from './log.ts';
import { idOf, type Position } from './position.ts';

/** An item of the feed, and who may see it. */
export interface Item {
  readonly type: string;
  readonly data: unknown;
  readonly keys: readonly Key[];
  /** Present if sharing a key is not enough. */
  readonly mayRead?: (caller: Caller) => boolean;
}

const aboutWebhooks: ReadonlySet<string> = new Set(webhookEventTypes);

export function eventItem({ type, about, payload }: Pick<LoggedEvent, 'type' | 'about' | 'payload'>): Item {
  if (aboutWebhooks.has(type))
    return { type, data: payload, keys: opensToWebhook(payload), mayRead: (caller) => maySeeWebhook(caller, payload) };
  if (traitsOf(type).onDemand === true) return { type, data: payload, keys: [] };
  const keys = opensTo(type, about);
  return { type, data: payload, keys: type === 'engagement.transfer' ? [...keys, ...opensToPrevious(payload)] : keys };
}

/** An item that is not an event. */
export function itemOf<T extends FeedItemType>(type: T, data: FeedData<T>, keys: readonly Key[]): Item {
  return { type, data, keys };
}

/** An item about a visitor and an operator on a site. */
export function itemAbout<T extends FeedItemType>(type: T, data: FeedData<T>, about: About): Item {
  return itemOf(type, data, opensTo(type, about));
}

export function signalItem({ to, text }: ReceivedSignal): Item {
  const signal = JSON.parse(text) as FeedData<'engagement.signal'>;
  return itemOf('engagement.signal', signal, opensToSide(to));
}

/** Fills in the secrets of an event, which only its visitor is sent. */
export type Reveal = (event: StoredEvent) => Promise<object>;

/** The items of an event: with its secrets for the visitor it is about, without them for all others. */
export async function eventItems(event: LoggedEvent, reveal: Reveal): Promise<(Item & { readonly seq: number })[]> {
  const { id, seq, type, about, payload } = event;
  const item = { ...eventItem(event), seq };
  if (!hasSecrets(type)) return [item];
  const own = opensTo(type, { visitorId: about.visitorId ?? null });
  const others = item.keys.filter((key) => !own.includes(key));
  return [
    { ...item, data: await reveal({ id, type, payload: payload as object }), keys: own },
    { ...item, keys: others },
  ];
}

/** Events, and items of older versions in the log, are sent as they were written. */
type DataOf<T extends string> = T extends FeedItemType ? FeedData<T> : unknown;

/** In the format of Server-Sent Events. JSON has no line breaks, so the data is one line. */
export function serializeItem<T extends string>(id: string, type: T, data: DataOf<T>): string {
  return `id: ${id}\nevent: ${type}\ndata: ${JSON.stringify(data)}\n\n`;
}

/**
 * The items of a batch with their ids. The id of an item says what a reader has seen once they have read the item: within a
 * batch, the position where the batch began and the last event read. States follow after all events; only the last item has
 * the id of the whole batch.
 */
export function* withIds(
  { from, to }: { readonly from: Position; readonly to: Position },
  events: readonly (Item & { readonly seq: number })[],
  states: readonly Item[],
): Generator<{ readonly item: Item; readonly id: string }> {
  const last = events.at(-1)?.seq ?? from.midway?.seq ?? 0;
  const midway = (seq: number): string =>
    idOf({ seen: from.seen, version: from.version, at: from.at, midway: { upTo: to.seen, seq } });
  const whole = idOf(to);
  for (const [index, item] of events.entries())
    yield { item, id: index === events.length - 1 && states.length === 0 ? whole : midway(item.seq) };
  const lastEvent = midway(last);
  for (const [index, item] of states.entries()) yield { item, id: index === states.length - 1 ? whole : lastEvent };
}
