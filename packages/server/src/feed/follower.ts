import { isDeepStrictEqual } from 'node:util';
import type { ReceivedSignal } from '../engagements/signals/pieces.ts';
import type { Whisper } from '../events/hints.ts';
import type { Caller } from '../identity/caller.ts';
import { isDatabaseUnavailable, type Sql } from '../platform/database/database.ts';
import type { AccountId } from '../platform/ids.ts';
import type { Log } from '../platform/log.ts';
import type { SiteQueues } from '../queues/site-queues.ts';
import type { ChangedIds } from '../routing/board-changes.ts';
import type { Turns } from '../routing/turns.ts';
import { keysOf, type Key } from './audience.ts';
import { eventItem, eventItems, withIds, signalItem, serializeItem, type Item, type Reveal } from './items.ts';
import { readBatch, readPosition } from './log.ts';
import { idOf, type Position } from './position.ts';
import { QueueStates } from './queue-states.ts';
import { statesOf } from './states.ts';
import type { Stream } from './stream.ts';
import { TicketPositions } from './ticket-positions.ts';
import { readerScopeOf } from './reader-scope.ts';

export interface FollowerDependencies {
  readonly sql: Sql;
  readonly turns: Turns;
  readonly siteQueues: SiteQueues;
  readonly log: Log;
  readonly reveal: Reveal;
}

/** After this long without a successful read, all streams are closed. Their readers reconnect and read what they missed in batches. */
const maxReadGapMs = 10_000;
/** Beyond this many postponed sends, all streams are closed as well. */
const maxPostponed = 10_000;

/**
 * Follows the log of one account for all feeds of this process: after each hint it reads on from its position and sends the
 * items to the streams that may see them. Invariant: everything up to `position` has been sent to every stream.
 */
export class Follower {
  readonly accountId: AccountId;
  readonly streams = new Set<Stream>();
  /** Streams about to be added; the follower must not stop meanwhile. */
  joining = 0;
  readonly #deps: FollowerDependencies;
  readonly #readers = new Map<Key, Set<Stream>>();
  readonly #queues: QueueStates;
  readonly #tickets: TicketPositions;
  #position: Position;
  /**
   * State of reading the log. `due`: a read begins at once, or after the current one.
   *
   *   idle —readLog→ due —read begins→ reading —read ends→ idle
   *                                    reading —readLog→   due
   */
  #reading: 'idle' | 'due' | 'reading' = 'idle';
  #lastReadAt = performance.now();
  #catchUpWaiters: PromiseWithResolvers<void>[] = [];
  /** Readers whose permissions are being checked, and the sends that wait for these checks. */
  #checks = 0;
  readonly #postponed: (() => void)[] = [];

  static async begin(deps: FollowerDependencies, accountId: AccountId): Promise<Follower> {
    return new Follower(deps, accountId, await readPosition(deps.sql, accountId));
  }

  private constructor(deps: FollowerDependencies, accountId: AccountId, position: Position) {
    this.#deps = deps;
    this.accountId = accountId;
    this.#position = position;
    const send = (items: readonly Item[]): void => this.#sendNow(items);
    this.#queues = new QueueStates(deps, accountId, send);
    this.#tickets = new TicketPositions(deps, accountId, send);
  }

  get position(): Position {
    return this.#position;
  }

  /** Resolves once the stream is sent every change from now on. */
  async add(stream: Stream): Promise<void> {
    this.streams.add(stream);
    this.#index(stream);
    await this.#queues.begin(sitesOf(stream));
  }

  remove(stream: Stream): void {
    this.streams.delete(stream);
    this.#unindex(stream);
    if (this.streams.size === 0) this.stop();
  }

  /** Replaces the caller of a stream. If the roles differ, the reader is reset and reads everything again. */
  changeCaller(stream: Stream, caller: Caller): void {
    const hasOtherRoles = !isDeepStrictEqual(rolesOf(stream.caller), rolesOf(caller));
    this.#unindex(stream);
    stream.caller = caller;
    stream.keys = keysOf(caller);
    this.#index(stream);
    if (hasOtherRoles) stream.send(serializeItem(idOf(this.#position), 'feed.reset', { reason: 'access_changed' }));
  }

  /** Sends nothing until the check is done: otherwise a reader could be sent items that they may no longer see. */
  async postponeUntil<T>(check: Promise<T>): Promise<T> {
    this.#checks += 1;
    try {
      return await check;
    } finally {
      // The code that awaits the check replaces the caller in a microtask; setImmediate runs after all microtasks.
      setImmediate(() => this.#onChecked());
    }
  }

  #onChecked(): void {
    this.#checks -= 1;
    if (this.#checks > 0) return;
    for (const send of this.#postponed.splice(0)) send();
  }

  /** Calls `send` now, or once the permissions of every reader are checked; in the order of the calls. */
  #whenChecked(send: () => void): void {
    if (this.#checks === 0) return send();
    this.#postponed.push(send);
    if (this.#postponed.length > maxPostponed) this.closeAll();
    return undefined;
  }

  stop(): void {
    this.#queues.stop();
    this.#tickets.stop();
  }

  /** Call this when the log may have new events. */
  readLog(): void {
    const wasIdle = this.#reading === 'idle';
    this.#reading = 'due';
    if (wasIdle) void this.#read();
  }

  /** Resolves once everything committed before the call has been read; rejects if it could not be read. */
  async catchUp(): Promise<void> {
    const reading = Promise.withResolvers<void>();
    this.#catchUpWaiters.push(reading);
    this.readLog();
    return reading.promise;
  }

  /** Nothing was committed between the two positions. Ignored if the log was read meanwhile. */
  advance(from: Position, to: Position): void {
    if (this.#position !== from || this.#reading !== 'idle') return;
    this.#position = to;
    this.#lastReadAt = performance.now();
  }

  sendWhisper(whisper: Whisper): void {
    this.#sendNow([eventItem({ type: whisper.payload.event_type, ...whisper })]);
  }

  sendSignal(signal: ReceivedSignal): void {
    this.#sendNow([signalItem(signal)]);
  }

  #index(stream: Stream): void {
    for (const key of stream.keys) {
      const readers = this.#readers.get(key) ?? new Set();
      readers.add(stream);
      this.#readers.set(key, readers);
    }
    const { caller } = stream;
    if (caller.kind === 'visitor') this.#tickets.watch(caller.visitorId);
    for (const site of sitesOf(stream)) this.#queues.watch(site);
  }

  #unindex(stream: Stream): void {
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
      const waiting = this.#catchUpWaiters.splice(0);
      try {
        await this.#readBatch();
        this.#lastReadAt = performance.now();
        for (const { resolve } of waiting) resolve();
      } catch (error) {
        for (const { reject } of waiting) reject(error);
        if (!isDatabaseUnavailable(error))
          this.#deps.log.error({ err: error }, 'could not read the event log for the live feed');
        if (performance.now() - this.#lastReadAt > maxReadGapMs) this.closeAll();
      }
    }
    this.#reading = 'idle';
  }

  async #readBatch(): Promise<void> {
    const { sql } = this.#deps;
    const from = this.#position;
    const batch = await readBatch(sql, this.accountId, from);
    if (batch === null) return this.#restart();
    const { events, changed, position: to } = batch;
    const states = changed === null ? [] : await this.#statesOf(changed);
    const items = await Promise.all(events.map(async (event) => eventItems(event, this.#deps.reveal)));
    await new Promise<void>((resolve) => this.#whenChecked(resolve));
    // It is unknown what changed, so readers must read everything again. The reset comes before any item whose id includes this
    // batch: a reader who is disconnected in between would otherwise never be reset.
    if (changed === null) this.#sendReset(from, 'moves_unknown');
    this.#send(withIds({ from, to }, items.flat(), states));
    this.#position = to;
    if (changed !== null && changed.length > 0) this.#tickets.scheduleCheck(changed);
    if (changed === null || changed.length > 0) this.#queues.scheduleCheck();
  }

  /** Most batches have only messages. For them the readers are not listed, as there may be thousands. */
  async #statesOf(changed: readonly ChangedIds[]): Promise<readonly Item[]> {
    if (changed.length === 0) return [];
    return statesOf(this.#deps, this.accountId, changed, readerScopeOf(this.streams));
  }

  /** A standby that lagged was promoted, or an older backup restored, so it is unknown which of its events the readers have seen. */
  async #restart(): Promise<void> {
    this.#position = await readPosition(this.#deps.sql, this.accountId);
    const { last, epoch } = this.#position.seen;
    this.#deps.log.warn(
      { accountId: this.accountId, epoch, last },
      'the database has lost events that feed readers were sent: they are reset',
    );
    this.#sendReset(this.#position, 'unknown_id');
    this.#queues.scheduleCheck();
  }

  #sendReset(at: Position, reason: 'moves_unknown' | 'unknown_id'): void {
    const text = serializeItem(idOf(at), 'feed.reset', { reason });
    for (const stream of this.streams) stream.send(text);
  }

  /** Sends items that are not in the log, with the id of the current position. */
  #sendNow(items: readonly Item[]): void {
    this.#whenChecked(() => {
      const id = idOf(this.#position);
      this.#send(items.map((item) => ({ item, id })));
    });
  }

  #send(items: Iterable<{ readonly item: Item; readonly id: string }>): void {
    const texts = new Map<Stream, string>();
    for (const { item, id } of items) {
      const readers = this.#readersOf(item);
      if (readers.size === 0) continue;
      const text = serializeItem(id, item.type, item.data);
      for (const stream of readers) texts.set(stream, (texts.get(stream) ?? '') + text);
    }
    for (const [stream, text] of texts) stream.send(text);
  }

  #readersOf({ keys, mayRead }: Item): ReadonlySet<Stream> {
    const found = keys.flatMap((key) => this.#readers.get(key) ?? []);
    if (mayRead !== undefined)
      return new Set(found.flatMap((readers) => [...readers].filter(({ caller }) => mayRead(caller))));
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
