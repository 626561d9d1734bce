import type { ServerResponse } from 'node:http';
import { SignalAssembler } from '../engagements/signals/pieces.ts';
import type { Hints } from '../events/hints.ts';
import type { Authenticator } from '../identity/authenticate.ts';
import type { Caller } from '../identity/caller.ts';
import type { RowChanges } from '../platform/database/row-changes.ts';
import { isDatabaseUnavailable } from '../platform/database/database.ts';
import type { AccountId } from '../platform/ids.ts';
import { Follower, type FollowerDependencies } from './follower.ts';
import { serializeItem } from './items.ts';
import { pollLogs } from './poll-logs.ts';
import { idOf, positionOf } from './position.ts';
import { sendMissed } from './resume.ts';
import { Stream } from './stream.ts';

interface FeedsDependencies extends FollowerDependencies {
  readonly hints: Hints;
  readonly changes: RowChanges;
  readonly authenticator: Authenticator;
  /** Called when a reader is dropped because they do not read. */
  readonly onDropped: () => void;
}

/** Every stream is sent a heartbeat comment this often. The streams are divided into as many groups, one group per second. */
const heartbeatSec = 15;
/** The longest delay after a lost hint. */
const pollMs = 2_000;

interface OpenFeed {
  readonly stream: Stream;
  readonly follower: Follower;
  readonly heartbeatGroup: number;
}

export interface FeedRequest {
  readonly response: ServerResponse;
  readonly caller: Caller;
  readonly header: string;
  readonly lastId: string | null;
}

/** All open feeds of this process. */
export class Feeds {
  readonly #deps: FeedsDependencies;
  readonly #followers = new Map<AccountId, Promise<Follower>>();
  readonly #open = new Map<ServerResponse, OpenFeed>();
  readonly #signals = new SignalAssembler();
  readonly #timers: readonly NodeJS.Timeout[];
  #heartbeats = 0;
  #opened = 0;
  #isPolling = false;

  constructor(deps: FeedsDependencies) {
    this.#deps = deps;
    const { hints, changes } = deps;
    hints.on((accountId) => this.#withFollower(accountId, (follower) => follower.readLog()));
    hints.onWhisper((accountId, whisper) => this.#withFollower(accountId, (follower) => follower.sendWhisper(whisper)));
    changes.on('signal', (note) => this.#onSignal(note));
    // The permissions of a caller changed: check them now instead of with the next heartbeat.
    changes.on('operators', (id) =>
      this.#recheck(({ caller }) => caller.kind === 'operator' && caller.operatorId === id),
    );
    changes.on('visitors', (id) => this.#recheck(({ caller }) => caller.kind === 'visitor' && caller.visitorId === id));
    // The visitors of a deleted site are no callers any more. Its operators lose their roles there, which is a change of `operators`.
    changes.on('deleted_sites', (id) =>
      this.#recheck(({ caller }) => caller.kind === 'visitor' && caller.siteId === id),
    );
    changes.on('revoked_tokens', () => this.#recheck(() => true));
    changes.on('accounts', (id) =>
      this.#recheck(({ caller }) => caller.kind !== 'anonymous' && caller.accountId === id),
    );
    changes.on('operator_access_tokens', (id) =>
      this.#recheck(({ caller }) => caller.kind === 'operator' && caller.token.id === id),
    );
    changes.onReset(() => {
      this.#signals.reset();
      // Row changes were lost, so any operator may have changed. Visitors are checked with their next heartbeat.
      this.#recheck(({ caller }) => caller.kind === 'operator');
      this.#readAllLogs();
    });
    this.#timers = [
      setInterval(() => this.#sendHeartbeats(), 1_000).unref(),
      setInterval(() => void this.#poll(), pollMs).unref(),
    ];
  }

  get size(): number {
    return this.#open.size;
  }

  /** Closes one feed; its reader may reconnect. */
  close(response: ServerResponse): void {
    const open = this.#open.get(response);
    if (open === undefined) response.destroy();
    else open.stream.close();
  }

  /**
   * The follower of the account, for `serve` or `leave`: until then it does not stop. For a reader who resumes, the follower has read the
   * log up to now: the reader may have seen more than the follower, and is sent nothing twice. Rejects if the log cannot be read.
   */
  async prepare(accountId: AccountId, lastId: string | null): Promise<Follower> {
    const follower = await this.#follower(accountId);
    follower.joining += 1;
    if (lastId === null) return follower;
    try {
      await follower.catchUp();
    } catch (error) {
      this.leave(follower);
      throw error;
    }
    return follower;
  }

  /** Gives up a follower that was prepared and is not served. */
  leave(follower: Follower): void {
    follower.joining -= 1;
    this.#stopIfUnused(follower);
  }

  /** Sends missed items, then live ones, until the reader disconnects. The response headers must have been written. */
  async serve(follower: Follower, { response, caller, header, lastId }: FeedRequest): Promise<void> {
    const { accountId } = follower;
    const stream = new Stream(response, header, caller, () => this.#deps.onDropped());
    const open = { stream, follower, heartbeatGroup: (this.#opened += 1) % heartbeatSec };
    if (stream.closed) return this.leave(follower);
    follower.joining -= 1;
    const upTo = follower.position;
    await this.#register(open);
    // The permissions of the caller may have changed before the feed was registered.
    await this.#recheckChanged(stream, follower);
    const from = lastId === null ? null : positionOf(lastId);
    const resumed = from !== null && (await this.#resume(open, accountId, { from, upTo }));
    const id = idOf(upTo);
    if (lastId !== null && !resumed) await stream.sendMissed(serializeItem(id, 'feed.reset', { reason: 'unknown_id' }));
    await stream.sendMissed(serializeItem(id, 'feed.open', { resumed }));
    stream.goLive();
  }

  /** Closes every feed; the readers reconnect to another process. */
  stop(): void {
    for (const timer of this.#timers) clearInterval(timer);
    for (const { stream, follower } of this.#open.values()) {
      stream.close();
      follower.stop();
    }
  }

  async #resume(
    { stream }: OpenFeed,
    accountId: AccountId,
    { from, upTo }: { from: NonNullable<ReturnType<typeof positionOf>>; upTo: Follower['position'] },
  ): Promise<boolean> {
    try {
      return await sendMissed(this.#deps, { accountId, stream, from, upTo });
    } catch (error) {
      // The reader reconnects with the same id and tries again.
      stream.close();
      if (!isDatabaseUnavailable(error)) throw error;
      return true;
    }
  }

  async #register(open: OpenFeed): Promise<void> {
    const { stream, follower } = open;
    this.#open.set(stream.response, open);
    stream.response.on('close', () => {
      this.#open.delete(stream.response);
      follower.remove(stream);
      this.#stopIfUnused(follower);
    });
    await follower.add(stream);
  }

  async #follower(accountId: AccountId): Promise<Follower> {
    const running = this.#followers.get(accountId);
    if (running !== undefined) return running;
    const begun = Follower.begin(this.#deps, accountId);
    this.#followers.set(accountId, begun);
    begun.catch(() => this.#followers.delete(accountId));
    return begun;
  }

  #stopIfUnused(follower: Follower): void {
    if (follower.streams.size + follower.joining > 0) return;
    follower.stop();
    this.#followers.delete(follower.accountId);
  }

  #withFollower(accountId: AccountId, act: (follower: Follower) => void): void {
    this.#followers.get(accountId)?.then(act, () => undefined);
  }

  #onSignal(note: string): void {
    const signal = this.#signals.take(note);
    if (signal !== null) this.#withFollower(signal.accountId, (follower) => follower.sendSignal(signal));
  }

  #readAllLogs(): void {
    for (const accountId of this.#followers.keys()) this.#withFollower(accountId, (follower) => follower.readLog());
  }

  async #poll(): Promise<void> {
    if (this.#isPolling) return;
    this.#isPolling = true;
    const followers = new Set([...this.#open.values()].map(({ follower }) => follower));
    await pollLogs(this.#deps, [...followers]);
    this.#isPolling = false;
  }

  #recheck(concerns: (stream: Stream) => boolean): void {
    for (const { stream, follower } of this.#open.values())
      if (concerns(stream)) void this.#recheckChanged(stream, follower);
  }

  /** The roles of the caller may have changed. If they cannot be read, the reader must not be sent anything: they reconnect. */
  async #recheckChanged(stream: Stream, follower: Follower): Promise<void> {
    if (!(await this.#recheckOne(stream, follower))) stream.close();
  }

  /**
   * Authenticates again: the token may have ended or have other sites. Until this is decided, no reader of the account is sent anything.
   * Returns false if the database is unavailable.
   */
  async #recheckOne(stream: Stream, follower: Follower): Promise<boolean> {
    try {
      const result = this.#deps.authenticator.authenticate(stream.header);
      const caller = result instanceof Promise ? await follower.postponeUntil(result) : result;
      if (caller !== stream.caller && !stream.closed) follower.changeCaller(stream, caller);
    } catch (error) {
      if (isDatabaseUnavailable(error)) return false;
      stream.close();
    }
    return true;
  }

  /** Keeps connections open, and sends the current id, so that a reader without items can resume from here. */
  #sendHeartbeats(): void {
    this.#heartbeats += 1;
    for (const { stream, follower, heartbeatGroup } of this.#open.values()) {
      if (heartbeatGroup !== this.#heartbeats % heartbeatSec) continue;
      void this.#recheckOne(stream, follower);
      if (stream.live) stream.send(`: \nid: ${idOf(follower.position)}\n\n`);
    }
  }
}
