import type { DatabaseAddress } from './database.ts';
import { connect } from './database.ts';
import { pools } from './pools.ts';

/**
 * Notifies this process of changed rows, whichever process changed them, so that the process may answer from memory.
 *
 * Triggers (`tell_change` in the migrations) send `table:id` with NOTIFY when the change commits. The channel is either
 *
 *   live   it listens, and the last heartbeat was answered: a change arrives within milliseconds of its commit;
 *   deaf   its connection is lost, or a heartbeat was not answered. No cached row may be used. Every cache is cleared
 *          before the channel becomes live again.
 *
 * A process can therefore act on an outdated row for `deafAfterMs` at most, and only while its connection fails silently.
 * In the process that made the change, `caughtUp()` reduces that time to zero.
 */
export interface RowChanges {
  readonly live: boolean;
  /** For the metrics. */
  readonly numbers: {
    readonly lagMs: number;
    readonly reconnects: number;
    readonly notifications: number;
  };
  /** Calls `onChange` with the id of each changed row of `table`. */
  on(table: string, onChange: (id: string) => void): void;
  /** Calls `clear` whenever changes may have been missed. */
  onReset(clear: () => void): void;
  /** Resolves once every change that had committed before the call has been received. */
  caughtUp(): Promise<void>;
  close(): Promise<void>;
}

const changeChannel = 'usher_changes';

/** Sent instead of `table:id` when many rows of many tables have changed: every cache is cleared. */
export const everything = '*';

const heartbeatMs = 1_000;
const deafAfterMs = 3_000;

/** A connection that no longer responds is replaced as soon as the channel is deaf. */
const listeningOptions = {
  ...pools.changes,
  connect_timeout: deafAfterMs / 1000,
  statementDeadlineMs: deafAfterMs,
};

export async function openRowChanges(address: DatabaseAddress): Promise<RowChanges> {
  const listeners = new Map<string, ((id: string) => void)[]>();
  const resets: (() => void)[] = [];
  let live = false;
  let closed = false;
  let notifications = 0;
  let reconnects = 0;
  /** The duration of the last heartbeat, and when the one under way began. */
  let lastLagMs = 0;
  let beatingSince: number | null = null;

  const receive = (channel: string, payload: string): void => {
    if (channel !== changeChannel) return;
    notifications += 1;
    if (payload === everything) for (const clear of resets) clear();
    const colon = payload.indexOf(':');
    for (const onChange of listeners.get(payload.slice(0, colon)) ?? []) onChange(payload.slice(colon + 1));
  };
  const goDeaf = (): void => {
    live = false;
  };
  const client = connect(address, { ...listeningOptions, onNotification: receive, onConnectionClosed: goDeaf });

  const listen = async (): Promise<void> => {
    await client`LISTEN ${client(changeChannel)}`;
    for (const clear of resets) clear();
    live = true;
  };
  const beat = async (): Promise<void> => {
    const watchdog = setTimeout(goDeaf, deafAfterMs - heartbeatMs).unref();
    const since = (beatingSince ??= performance.now());
    try {
      if (live) await client`SELECT`;
      else {
        await listen();
        reconnects += 1;
      }
      lastLagMs = performance.now() - since;
      beatingSince = null;
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

  /** PostgreSQL sends pending notifications before it reports that it is ready for the next query. */
  const answerOrTimeout = async (): Promise<void> => {
    const timeout = Promise.withResolvers<void>();
    const timer = setTimeout(timeout.resolve, deafAfterMs).unref();
    await Promise.race([client`SELECT`.catch(goDeaf), timeout.promise]);
    clearTimeout(timer);
  };
  /** One query answers everybody who asks while another is under way. */
  let query = Promise.resolve();
  let nextQuery: Promise<void> | null = null;

  return {
    get live() {
      return live;
    },
    get numbers() {
      const underWayMs = beatingSince === null ? 0 : performance.now() - beatingSince;
      return { lagMs: Math.max(lastLagMs, underWayMs), reconnects, notifications };
    },
    on(table, onChange) {
      listeners.set(table, [...(listeners.get(table) ?? []), onChange]);
    },
    onReset(clear) {
      resets.push(clear);
    },
    async caughtUp() {
      if (!live) return;
      // A query that is under way may have been answered before the caller's change, so the caller waits for the next one.
      nextQuery ??= query.then(async () => {
        nextQuery = null;
        return (query = answerOrTimeout());
      });
      await nextQuery;
    },
    async close() {
      closed = true;
      clearTimeout(timer);
      goDeaf();
      await client.end({ timeout: 1 });
    },
  };
}
