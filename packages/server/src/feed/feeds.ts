import type { ServerResponse } from 'node:http';
import { SignalAssembler } from '../engagements/signals/pieces.ts';
import type { Hints } from '../events/hints.ts';
import type { Authenticator } from '../identity/authenticate.ts';
import type { Caller } from '../identity/caller.ts';
import type { ChangeFeed } from '../platform/change-feed.ts';
import { isDatabaseUnavailable } from '../platform/database.ts';
import type { AccountId } from '../platform/ids.ts';
import { Follower, type FollowerParts } from './follower.ts';
import { written } from './items.ts';
import { idOf, positionOf } from './position.ts';
import { sendMissed } from './resume.ts';
import { Stream } from './stream.ts';

interface FeedsParts extends FollowerParts {
  readonly hints: Hints;
  readonly changes: ChangeFeed;
  readonly authenticator: Authenticator;
  /** A reader did not read. */
  readonly onDropped: () => void;
}

/** A comment goes to every stream so often. They take turns, a part of them each second. */
const beatSec = 15;
/** A hint that was lost costs no more than this. */
const pollMs = 2_000;
interface Open {
  readonly stream: Stream;
  readonly follower: Follower;
  readonly part: number;
}

export interface Opening {
  readonly response: ServerResponse;
  readonly caller: Caller;
  readonly header: string;
  readonly lastId: string | null;
}

/** All feeds that this process has open, by account. */
export class Feeds {
  readonly #parts: FeedsParts;
  readonly #followers = new Map<AccountId, Promise<Follower>>();
  readonly #open = new Map<ServerResponse, Open>();
  readonly #signals = new SignalAssembler();
  readonly #timers: readonly NodeJS.Timeout[];
  #beats = 0;
  #opened = 0;

  constructor(parts: FeedsParts) {
    this.#parts = parts;
    const { hints, changes } = parts;
    hints.on((accountId) => this.#with(accountId, (follower) => follower.look()));
    hints.onWhisper((accountId, whisper) => this.#with(accountId, (follower) => follower.hear(whisper)));
    changes.on('signal', (note) => this.#hearSignal(note));
    // What a caller may see has changed: it is looked at now, and not only with the next comment.
    changes.on('operators', (id) =>
      this.#recheck(({ caller }) => caller.kind === 'operator' && caller.operatorId === id),
    );
    changes.on('visitors', (id) => this.#recheck(({ caller }) => caller.kind === 'visitor' && caller.visitorId === id));
    changes.on('revoked_tokens', () => this.#recheck(() => true));
    changes.on('operator_access_tokens', (id) =>
      this.#recheck(({ caller }) => caller.kind === 'operator' && caller.token.id === id),
    );
    changes.onReset(() => {
      this.#signals.reset();
      // Which operators were changed while nothing was heard, nobody can say. Visitors are looked at with their next comment.
      this.#recheck(({ caller }) => caller.kind === 'operator');
      this.#lookEverywhere();
    });
    this.#timers = [
      setInterval(() => this.#beat(), 1_000).unref(),
      setInterval(() => this.#lookEverywhere(), pollMs).unref(),
    ];
  }

  get size(): number {
    return this.#open.size;
  }

  /** Ends one feed; its reader may come back. */
  close(response: ServerResponse): void {
    const open = this.#open.get(response);
    if (open === undefined) response.destroy();
    else open.stream.close();
  }

  /** Finds out where the account's log is; of a reader that comes back, from where it need be told nothing twice. */
  async prepare(accountId: AccountId, lastId: string | null): Promise<Follower> {
    const follower = await this.#follower(accountId);
    follower.joining += 1;
    if (lastId !== null) await follower.fresh();
    return follower;
  }

  /** Sends what was missed, and from then on what happens, until the reader is gone. The head has been written. */
  async serve(follower: Follower, { response, caller, header, lastId }: Opening): Promise<void> {
    const { accountId } = follower;
    const stream = new Stream(response, header, caller, () => this.#parts.onDropped());
    const open = { stream, follower, part: (this.#opened += 1) % beatSec };
    follower.joining -= 1;
    if (stream.closed) return this.#leaveIfEmpty(follower);
    const upTo = follower.position;
    await this.#enter(open);
    // What the caller may see may have changed before there was a feed to tell.
    await this.#recheckOne(stream, follower);
    const from = lastId === null ? null : positionOf(lastId);
    const resumed = from !== null && (await this.#resume(open, accountId, { from, upTo }));
    const id = idOf(upTo);
    if (lastId !== null && !resumed) await stream.sendMissed(written(id, 'feed.reset', { reason: 'unknown_id' }));
    await stream.sendMissed(written(id, 'feed.open', { resumed }));
    stream.goLive();
  }

  /** Ends every feed; their readers will ask another process. */
  stop(): void {
    for (const timer of this.#timers) clearInterval(timer);
    for (const { stream, follower } of this.#open.values()) {
      stream.close();
      follower.stop();
    }
  }

  async #resume(
    { stream }: Open,
    accountId: AccountId,
    { from, upTo }: { from: NonNullable<ReturnType<typeof positionOf>>; upTo: Follower['position'] },
  ): Promise<boolean> {
    try {
      return await sendMissed(this.#parts, { accountId, stream, from, upTo });
    } catch (error) {
      // It comes back with the same id, and finds the database again or does not.
      stream.close();
      if (!isDatabaseUnavailable(error)) throw error;
      return true;
    }
  }

  async #enter(open: Open): Promise<void> {
    const { stream, follower } = open;
    this.#open.set(stream.response, open);
    stream.response.on('close', () => {
      this.#open.delete(stream.response);
      follower.remove(stream);
      this.#leaveIfEmpty(follower);
    });
    await follower.add(stream);
  }

  async #follower(accountId: AccountId): Promise<Follower> {
    const known = this.#followers.get(accountId);
    if (known !== undefined) return known;
    const begun = Follower.begin(this.#parts, accountId);
    this.#followers.set(accountId, begun);
    begun.catch(() => this.#followers.delete(accountId));
    return begun;
  }

  #leaveIfEmpty(follower: Follower): void {
    if (follower.streams.size + follower.joining > 0) return;
    follower.stop();
    this.#followers.delete(follower.accountId);
  }

  #with(accountId: AccountId, act: (follower: Follower) => void): void {
    this.#followers.get(accountId)?.then(act, () => undefined);
  }

  #hearSignal(note: string): void {
    const signal = this.#signals.take(note);
    if (signal !== null) this.#with(signal.accountId, (follower) => follower.hearSignal(signal));
  }

  #lookEverywhere(): void {
    for (const accountId of this.#followers.keys()) this.#with(accountId, (follower) => follower.look());
  }

  #recheck(concerns: (stream: Stream) => boolean): void {
    for (const { stream, follower } of this.#open.values())
      if (concerns(stream)) void this.#recheckOne(stream, follower);
  }

  /** The token may have ended, or reach other sites. Until that is known, nothing is sent to anybody of the account. */
  async #recheckOne(stream: Stream, follower: Follower): Promise<void> {
    try {
      const known = this.#parts.authenticator.authenticate(stream.header);
      const caller = known instanceof Promise ? await follower.postponing(known) : known;
      if (caller === stream.caller || stream.closed) return;
      follower.reenter(stream, caller);
    } catch (error) {
      if (!isDatabaseUnavailable(error)) stream.close();
    }
  }

  /** Keeps the connection open, and tells how far the reader has come even if nothing was for it. */
  #beat(): void {
    this.#beats += 1;
    for (const { stream, follower, part } of this.#open.values()) {
      if (part !== this.#beats % beatSec) continue;
      void this.#recheckOne(stream, follower);
      if (stream.live) stream.send(`: \nid: ${idOf(follower.position)}\n\n`);
    }
  }
}
