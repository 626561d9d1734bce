import { setTimeout as setTimeoutPromise } from 'node:timers/promises';
import type { DatabaseAddress } from './database.ts';
import { connect } from './database.ts';
import { pools } from './pools.ts';

/**
 * Tells this process which rows changed, whichever process changed them, so that it may answer from memory.
 *
 * Triggers (`tell_change` in the migrations) send `table:id` on the channel when the change commits. The feed is either
 *
 *   live   it listens, and the last heartbeat was answered: whatever commits now is heard of within milliseconds;
 *   deaf   it has lost its connection, or cannot tell. Nobody may trust what they hold; everything is forgotten
 *          before it turns live again.
 *
 * So the longest time a process can act on an old row is `deafAfterMs`, and only while its connection is failing without
 * saying so. In the process that made the change `settled()` makes it zero.
 */
export interface ChangeFeed {
  readonly live: boolean;
  /** Calls `heard` with the id of each changed row of `table`. */
  on(table: string, heard: (id: string) => void): void;
  /** Calls `forget` whenever changes may have been missed. */
  onReset(forget: () => void): void;
  /** Resolves once everything that had committed before the call has been heard. */
  settled(): Promise<void>;
  close(): Promise<void>;
}

const changeChannel = 'usher_changes';

const heartbeatMs = 1_000;
const deafAfterMs = 3_000;

/** A connection that has fallen silent is replaced as soon as the feed is deaf. */
const listeningOptions = {
  ...pools.changes,
  connect_timeout: deafAfterMs / 1000,
  statementDeadlineMs: deafAfterMs,
};

export async function openChangeFeed(address: DatabaseAddress): Promise<ChangeFeed> {
  const listeners = new Map<string, ((id: string) => void)[]>();
  const resets: (() => void)[] = [];
  let live = false;
  let closed = false;

  const hear = (channel: string, payload: string): void => {
    if (channel !== changeChannel) return;
    const colon = payload.indexOf(':');
    for (const heard of listeners.get(payload.slice(0, colon)) ?? []) heard(payload.slice(colon + 1));
  };
  const goDeaf = (): void => {
    live = false;
  };
  // `onnotify` is postgres.js's own hook for this, missing from its types; `sql.listen` would hide a lost connection.
  const hooks = { onnotify: hear, onclose: goDeaf };
  const client = connect(address, { ...listeningOptions, ...hooks });

  const listen = async (): Promise<void> => {
    await client`LISTEN ${client(changeChannel)}`;
    for (const forget of resets) forget();
    live = true;
  };
  const beat = async (): Promise<void> => {
    const watchdog = setTimeout(goDeaf, deafAfterMs - heartbeatMs).unref();
    try {
      await (live ? client`SELECT` : listen());
    } finally {
      clearTimeout(watchdog);
    }
  };

  await listen();
  const pulse = async (): Promise<void> => {
    try {
      await beat();
    } catch {
      goDeaf();
    }
    if (!closed) timer = setTimeout(() => void pulse(), heartbeatMs).unref();
  };
  let timer = setTimeout(() => void pulse(), heartbeatMs).unref();

  return {
    get live() {
      return live;
    },
    on(table, heard) {
      listeners.set(table, [...(listeners.get(table) ?? []), heard]);
    },
    onReset(forget) {
      resets.push(forget);
    },
    async settled() {
      // PostgreSQL hands over pending notifications before it says it is ready again.
      if (!live) return;
      await Promise.race([client`SELECT`.catch(goDeaf), setTimeoutPromise(deafAfterMs, undefined, { ref: false })]);
    },
    async close() {
      closed = true;
      clearTimeout(timer);
      goDeaf();
      await client.end({ timeout: 1 });
    },
  };
}
