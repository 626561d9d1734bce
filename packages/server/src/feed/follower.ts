import { isDeepStrictEqual } from 'node:util';
import type { ReceivedSignal } from '../engagements/signals/pieces.ts';
import type { Whisper } from '../events/hints.ts';
import type { Caller } from '../identity/caller.ts';
import { isDatabaseUnavailable, type Sql } from '../platform/database.ts';
import type { AccountId } from '../platform/ids.ts';
import type { Log } from '../platform/log.ts';
import type { SiteQueues } from '../queues/site-queues.ts';
import type { Turns } from '../routing/turns.ts';
import { keysOf, type Key } from './audience.ts';
import { eventItem, eventItems, inBatch, signalItem, written, type Item, type Reveal } from './items.ts';
import { readBatch, readPosition } from './log.ts';
import { idOf, type Position } from './position.ts';
import { QueueStates } from './queue-states.ts';
import { statesOf } from './states.ts';
import type { Stream } from './stream.ts';
import { TicketPositions } from './ticket-positions.ts';
import { wantedBy } from './wanted.ts';

export interface FollowerParts {
  readonly sql: Sql;
  readonly turns: Turns;
  readonly siteQueues: SiteQueues;
  readonly log: Log;
  readonly reveal: Reveal;
}

/** One that has not been able to read for so long lets its readers go: they come back and read what they missed in parts. */
const longestSilenceMs = 10_000;
/** Where more than this waits to be dealt out, readers are let go in the same way. */
const mostPostponed = 10_000;

/**
 * Follows what happens in one account, for those who read its feed in this process: reads the log from where it was each
 * time somebody hints that there is more, and deals it out. Whatever it has read, every one of its streams has been sent.
 */
export class Follower {
  readonly accountId: AccountId;
  readonly streams = new Set<Stream>();
  /** Streams about to be added: it is needed. */
  joining = 0;
  readonly #parts: FollowerParts;
  readonly #readers = new Map<Key, Set<Stream>>();
  readonly #queues: QueueStates;
  readonly #tickets: TicketPositions;
  #position: Position;
  /**
   * Reading the log: `due` is about to read, at once or after the read under way.
   *
   *   idle —look→ due —read begins→ reading —read ends→ idle
   *                                 reading —look→      due
   */
  #reading: 'idle' | 'due' | 'reading' = 'idle';
  #readAt = performance.now();
  #waiting: (() => void)[] = [];
  /** Readers of whom it is being found out what they may see, and what is dealt out once that is known. */
  #checks = 0;
  readonly #postponed: (() => void)[] = [];

  static async begin(parts: FollowerParts, accountId: AccountId): Promise<Follower> {
    return new Follower(parts, accountId, await readPosition(parts.sql, accountId));
  }

  private constructor(parts: FollowerParts, accountId: AccountId, position: Position) {
    this.#parts = parts;
    this.accountId = accountId;
    this.#position = position;
    const deal = (items: readonly Item[]): void => this.#dealNow(items);
    this.#queues = new QueueStates(parts, accountId, deal);
    this.#tickets = new TicketPositions(parts, accountId, deal);
  }

  get position(): Position {
    return this.#position;
  }

  /** Resolves once everything that changes from now on is told to it. */
  async add(stream: Stream): Promise<void> {
    this.streams.add(stream);
    this.#enter(stream);
    await this.#queues.begin(sitesOf(stream));
  }

  remove(stream: Stream): void {
    this.streams.delete(stream);
    this.#leave(stream);
    if (this.streams.size === 0) this.stop();
  }

  /** The caller may see something else than before. One who has other roles must read everything anew. */
  reenter(stream: Stream, caller: Caller): void {
    const hasOtherRoles = !isDeepStrictEqual(rolesOf(stream.caller), rolesOf(caller));
    this.#leave(stream);
    stream.caller = caller;
    stream.keys = keysOf(caller);
    this.#enter(stream);
    if (hasOtherRoles) stream.send(written(idOf(this.#position), 'feed.reset', { reason: 'access_changed' }));
  }

  /** Deals nothing out until it is known what a reader may see, or that reader could be sent what they no longer may. */
  async postponing<T>(check: Promise<T>): Promise<T> {
    this.#checks += 1;
    try {
      return await check;
    } finally {
      // The code that awaits the check changes the reader in a microtask. This timer runs after all microtasks.
      setImmediate(() => this.#checked());
    }
  }

  #checked(): void {
    this.#checks -= 1;
    if (this.#checks > 0) return;
    for (const deal of this.#postponed.splice(0)) deal();
  }

  /** Now, or as soon as it is known of every reader what they may see; in the order of the calls. */
  #whenChecked(deal: () => void): void {
    if (this.#checks === 0) return deal();
    this.#postponed.push(deal);
    if (this.#postponed.length > mostPostponed) this.closeAll();
    return undefined;
  }

  stop(): void {
    this.#queues.stop();
    this.#tickets.stop();
  }

  /** There may be more in the log. */
  look(): void {
    const wasIdle = this.#reading === 'idle';
    this.#reading = 'due';
    if (wasIdle) void this.#read();
  }

  /** Resolves once it has read what was committed before the call; where the database is away, once that is known. */
  async fresh(): Promise<void> {
    const reading = Promise.withResolvers<void>();
    this.#waiting.push(reading.resolve);
    this.look();
    return reading.promise;
  }

  hear(whisper: Whisper): void {
    this.#dealNow([eventItem({ type: whisper.payload.event_type, ...whisper })]);
  }

  hearSignal(signal: ReceivedSignal): void {
    this.#dealNow([signalItem(signal)]);
  }

  #enter(stream: Stream): void {
    for (const key of stream.keys) {
      const readers = this.#readers.get(key) ?? new Set();
      readers.add(stream);
      this.#readers.set(key, readers);
    }
    const { caller } = stream;
    if (caller.kind === 'visitor') this.#tickets.watch(caller.visitorId);
    for (const site of sitesOf(stream)) this.#queues.watch(site);
  }

  #leave(stream: Stream): void {
    for (const key of stream.keys) {
      const readers = this.#readers.get(key);
      readers?.delete(stream);
      if (readers?.size === 0) this.#readers.delete(key);
    }
    const { caller } = stream;
    if (caller.kind === 'visitor') this.#tickets.unwatch(caller.visitorId);
    for (const site of sitesOf(stream)) this.#queues.unwatch(site);
  }

  async #read(): Promise<void> {
    while (this.#reading === 'due') {
      this.#reading = 'reading';
      const waiting = this.#waiting.splice(0);
      try {
        await this.#readOn();
        this.#readAt = performance.now();
      } catch (error) {
        if (!isDatabaseUnavailable(error)) this.#parts.log.error({ err: error }, 'the feed could not be read');
        if (performance.now() - this.#readAt > longestSilenceMs) this.closeAll();
      }
      for (const done of waiting) done();
    }
    this.#reading = 'idle';
  }

  async #readOn(): Promise<void> {
    const { sql } = this.#parts;
    const from = this.#position;
    const batch = await readBatch(sql, this.accountId, from);
    if (batch === null) return this.#startAnew();
    const { events, moved, position: to } = batch;
    const wanted = wantedBy(this.streams);
    const states = moved === null ? [] : await statesOf(this.#parts, this.accountId, moved, wanted);
    const items = await Promise.all(events.map(async (event) => eventItems(event, this.#parts.reveal)));
    await new Promise<void>((resolve) => this.#whenChecked(resolve));
    // Nobody can say what moved: whoever looks at things must look at all of them. It is told before anything whose id says
    // that the batch has been seen, or one who is cut off in between would never know.
    if (moved === null) this.#sayReset(from, 'moves_unknown');
    this.#deal(inBatch({ from, to }, items.flat(), states));
    this.#position = to;
    if (moved !== null && moved.length > 0) this.#tickets.look(moved);
    if (moved === null || moved.length > 0) this.#queues.look();
  }

  /** The database was replaced by an older backup: nobody can say what of its log the readers have seen. */
  async #startAnew(): Promise<void> {
    this.#position = await readPosition(this.#parts.sql, this.accountId);
    this.#sayReset(this.#position, 'unknown_id');
    this.#queues.look();
  }

  #sayReset(at: Position, reason: 'moves_unknown' | 'unknown_id'): void {
    const text = written(idOf(at), 'feed.reset', { reason });
    for (const stream of this.streams) stream.send(text);
  }

  /** What is not in the log: it is as true as what has been read so far. */
  #dealNow(items: readonly Item[]): void {
    this.#whenChecked(() => {
      const id = idOf(this.#position);
      this.#deal(items.map((item) => ({ item, id })));
    });
  }

  #deal(items: Iterable<{ readonly item: Item; readonly id: string }>): void {
    const texts = new Map<Stream, string>();
    for (const { item, id } of items) {
      const readers = this.#readersOf(item);
      if (readers.size === 0) continue;
      const text = written(id, item.type, item.data);
      for (const stream of readers) texts.set(stream, (texts.get(stream) ?? '') + text);
    }
    for (const [stream, text] of texts) stream.send(text);
  }

  #readersOf({ keys }: Item): ReadonlySet<Stream> {
    const found = keys.flatMap((key) => this.#readers.get(key) ?? []);
    const [only = new Set<Stream>()] = found;
    return found.length < 2 ? only : new Set(found.flatMap((readers) => [...readers]));
  }

  closeAll(): void {
    for (const stream of this.streams) stream.close();
  }
}

function rolesOf(caller: Caller): unknown {
  return caller.kind === 'operator' ? caller.roles : null;
}

function sitesOf({ caller }: Stream): readonly string[] {
  if (caller.kind === 'operator') return [...caller.roles.keys()];
  return caller.kind === 'visitor' ? [caller.siteId] : [];
}
