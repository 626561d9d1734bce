import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import { putMessages, type NewMessage } from '../../../packages/server/src/engagements/messages/store.ts';
import type { MessageRow } from '../../../packages/server/src/engagements/messages/message.ts';
import { EngagementWrites } from '../../../packages/server/src/engagements/writes.ts';
import type { Clock } from '../../../packages/server/src/platform/clock/clock-watch.ts';
import {
  connect,
  type DatabaseAddress,
  type PoolSql,
} from '../../../packages/server/src/platform/database/database.ts';
import { pools, type PoolOptions } from '../../../packages/server/src/platform/database/pools.ts';
import { Turns } from '../../../packages/server/src/routing/turns.ts';
import { openGate, type Gate } from './gate.ts';
import { SimulatedRowChanges } from './row-changes.ts';
import { runAs } from './timers.ts';

/** The clock of the simulated database never steps. */
const steadyClock: Clock = {
  stepOf: () => 0,
  readAgain: async () => Promise.resolve(),
  onStep: () => undefined,
};

/**
 * The connections of a simulated process. They outlive a history, because opening them and preparing statements costs more than a history,
 * and no history depends on whether a statement was prepared before.
 */
export interface Host {
  readonly gate: Gate;
  readonly address: DatabaseAddress;
  readonly turnsSql: PoolSql;
  /** The pool of the batches. */
  readonly batchesSql: PoolSql;
  readonly dispatcherSql: PoolSql;
  readonly feedSql: PoolSql;
  /** Opens all connections, so that the next history does not depend on those that the last one has left. */
  warmUp(): Promise<void>;
  /** Loses all connections, and opens none any more. */
  close(): void;
}

interface HostOptions {
  /** The directory of the socket of PostgreSQL. */
  readonly target: string;
  readonly database: string;
}

/** The server's time limits count real time, of which a step takes more on a busy machine. */
const endless = { statement_timeout: 0, idle_in_transaction_session_timeout: 0 };

export async function openHost({ target, database }: HostOptions): Promise<Host> {
  const directory = mkdtempSync(join(tmpdir(), 'usher-gate-'));
  const gate = await openGate(target, directory);
  const address = { kind: 'socket', directory, user: 'usher', database } as const;
  // A host outlives the timers of a history, so the watches of its pools are never run: they would run in some histories only.
  const sizes = new Map<PoolSql, number>();
  const open = (options: PoolOptions): PoolSql => {
    const connection = { ...options.connection, ...endless };
    const pool = runAs({}, () => connect(address, { ...options, connection }));
    sizes.set(pool, options.max);
    // Each statement has a connection for itself: which statements share one depends on those that the connection has prepared.
    return pool.limitedBy(async (run) => run());
  };
  const turnsSql = open({ ...pools.turns, max: 2 });
  const batchesSql = open(pools.batches);
  const dispatcherSql = open(pools.dispatcher);
  const feedSql = open(pools.feed);
  return {
    gate,
    address,
    turnsSql,
    batchesSql,
    dispatcherSql,
    feedSql,
    async warmUp() {
      for (const [pool, size] of sizes) await reserveAll(pool, size);
    },
    close() {
      gate.close();
      for (const pool of sizes.keys()) pool.end().catch(() => undefined);
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** Transactions without statements have all connections of the pool at once. */
async function reserveAll(pool: PoolSql, size: number): Promise<void> {
  const all = Promise.withResolvers<void>();
  let reserved = 0;
  const reserve = async (): Promise<void> => {
    reserved += 1;
    if (reserved === size) all.resolve();
    return all.promise;
  };
  await Promise.all(Array.from({ length: size }, async () => pool.begin(reserve)));
}

/** A process of the cluster, as far as it writes turns and messages. All processes of a simulation are in this one. */
export interface SimulatedProcess {
  readonly name: string;
  readonly host: Host;
  readonly turns: Turns;
  readonly messages: EngagementWrites<NewMessage, MessageRow>;
  /** Calls back that the configuration of an account has changed. */
  notify(accountId: string): void;
}

interface ProcessOptions {
  readonly name: string;
  readonly host: Host;
  /** Is called with each line of the log: only errors are logged. */
  readonly onLog: (line: string) => void;
}

export function startProcess({ name, host, onLog }: ProcessOptions): SimulatedProcess {
  const log = pino({ level: 'error' }, { write: onLog });
  const changes = new SimulatedRowChanges();
  return {
    name,
    host,
    turns: new Turns({ sql: host.turnsSql, changes, clock: steadyClock, log, onOutdated: () => undefined }),
    messages: new EngagementWrites<NewMessage, MessageRow>({
      sql: host.batchesSql,
      statement: putMessages,
      onCommitted: () => undefined,
      log,
      subject: 'messages',
    }),
    notify: (accountId) => changes.announce('boards', accountId),
  };
}
