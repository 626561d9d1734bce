import { hasSecrets, type StoredEvent } from '../events/event-secrets.ts';
import type { About } from '../events/append.ts';
import type { ReceivedSignal } from '../engagements/signals/pieces.ts';
import { opensTo, opensToPrevious, opensToSide, type Key } from './audience.ts';
import type { FeedData, FeedItemType } from './catalogue.ts';
import type { Logged } from './log.ts';
import { idOf, type Position } from './position.ts';

/** Something on the feed, and who may see it. */
export interface Item {
  readonly type: string;
  readonly data: unknown;
  readonly keys: readonly Key[];
}

export function eventItem({ type, about, payload }: Pick<Logged, 'type' | 'about' | 'payload'>): Item {
  const keys = opensTo(type, about);
  return { type, data: payload, keys: type === 'engagement.transfer' ? [...keys, ...opensToPrevious(payload)] : keys };
}

/** An item that is no event. */
export function itemOf<T extends FeedItemType>(type: T, data: FeedData<T>, keys: readonly Key[]): Item {
  return { type, data, keys };
}

/** One about a visitor and an operator on a site. */
export function itemAbout<T extends FeedItemType>(type: T, data: FeedData<T>, about: About): Item {
  return itemOf(type, data, opensTo(type, about));
}

export function signalItem({ to, text }: ReceivedSignal): Item {
  const signal = JSON.parse(text) as FeedData<'engagement.signal'>;
  return itemOf('engagement.signal', signal, opensToSide(to));
}

/** Gives an event the secrets that its visitor alone is told. */
export type Reveal = (event: StoredEvent) => Promise<object>;

/** An event of the log: what is secret in it goes to the visitor it is about, and is left out for everybody else. */
export async function eventItems(event: Logged, reveal: Reveal): Promise<(Item & { readonly seq: number })[]> {
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

/** An event of the log, or an old item in it, is as it was written. */
type DataOf<T extends string> = T extends FeedItemType ? FeedData<T> : unknown;

/** As Server-Sent Events have it. JSON has no line breaks, so the data is one line. */
export function written<T extends string>(id: string, type: T, data: DataOf<T>): string {
  return `id: ${id}\nevent: ${type}\ndata: ${JSON.stringify(data)}\n\n`;
}

/**
 * Items of a batch with the id of each: what has been seen once it has been read. Within a batch that is where it began and
 * how far in it one is; things are shown after all events, and only with the last of them the whole batch has been seen.
 */
export function* inBatch(
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
