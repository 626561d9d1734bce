import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import { putMessages, type NewMessage } from '../../../packages/server/src/engagements/messages/store.ts';
import type { MessageRow } from '../../../packages/server/src/engagements/messages/message.ts';
import { EngagementWrites } from '../../../packages/server/src/engagements/writes.ts';
import type { Clock } from '../../../packages/server/src/platform/clock/clock-watch.ts';
import { connect, type PoolSql } from '../../../packages/server/src/platform/database/database.ts';
import { pools } from '../../../packages/server/src/platform/database/pools.ts';
import type { RowChanges } from '../../../packages/server/src/platform/database/row-changes.ts';
import { Turns } from '../../../packages/server/src/routing/turns.ts';
import { openGate, type Gate } from './gate.ts';

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
  readonly turnsSql: PoolSql;
  /** The pool of the batches. */
  readonly batchesSql: PoolSql;
  /** Loses all connections, and opens none any more. */
  close(): void;
}

interface HostOptions {
  /** The directory of the socket of PostgreSQL. */
  readonly target: string;
  readonly database: string;
}

export async function openHost({ target, database }: HostOptions): Promise<Host> {
  const directory = mkdtempSync(join(tmpdir(), 'usher-gate-'));
  const gate = await openGate(target, directory);
  const address = { kind: 'socket', directory, user: 'usher', database } as const;
  const turnsSql = connect(address, { ...pools.turns, max: 2 });
  const batchesSql = connect(address, pools.batches);
  return {
    gate,
    turnsSql,
    batchesSql,
    close() {
      gate.close();
      for (const pool of [turnsSql, batchesSql]) pool.end().catch(() => undefined);
      rmSync(directory, { recursive: true, force: true });
    },
  };
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
  const listeners: ((id: string) => void)[] = [];
  const changes: RowChanges = {
    live: true,
    numbers: { lagMs: 0, reconnects: 0, notifications: 0 },
    on: (table, onChange) => void (table === 'boards' && listeners.push(onChange)),
    onReset: () => undefined,
    caughtUp: async () => Promise.resolve(),
    close: async () => Promise.resolve(),
  };
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
    notify: (accountId) => listeners.forEach((onChange) => onChange(accountId)),
  };
}
