import { isLostRace, isStale } from './errors.ts';
import type { Need, Pool } from './pool.ts';
import { createTag, type PendingStatement, type Sql, type StatementKind } from './template.ts';
import type { Work } from './transaction.ts';

/** A pool as stores use it. */
export interface PoolSql extends Sql {
  /** Runs `work` in a transaction. `options` follow BEGIN, as in `ISOLATION LEVEL REPEATABLE READ`. */
  begin<T>(work: Work<T>): Promise<T>;
  begin<T>(options: string, work: Work<T>): Promise<T>;
  /** Waits for statements under way, `timeout` seconds at most, and closes all connections. Later statements are rejected. */
  end(options?: { readonly timeout?: number }): Promise<void>;
  /** The same connections for work that `limit` starts. A statement of it outside of a transaction has its connection for itself, too. */
  limitedBy(limit: Limit): PoolSql;
}

/** Calls `run` when a connection may be used, and knows from the promise until when it is. */
export type Limit = <T>(run: () => Promise<T>) => Promise<T>;

type Result = Parameters<PendingStatement['resolve']>[0];

/** The winner of a deadlock has finished by then; an immediate retry could lose again. */
const lostRaceMs = 50;

export function createPoolSql(pool: Pool, kind: StatementKind, limit: Limit | null = null): PoolSql {
  const tag = createTag(kind, (pending) => {
    if (limit === null) return runPending(pool, pending, 'place');
    const run = async (): Promise<Result> =>
      new Promise((resolve, reject) => runPending(pool, { ...pending, resolve, reject }, 'connection'));
    limit(run).then(pending.resolve, pending.reject);
  });
  return Object.assign(tag, {
    begin: async <T>(first: string | Work<T>, second?: Work<T>): Promise<T> => {
      const [begin, work] = typeof first === 'string' ? [`begin ${first}`, second] : ['begin', first];
      if (work === undefined) throw new TypeError('begin needs the work of the transaction');
      const run = async (): Promise<T> => pool.transact(begin, kind, work);
      return limit === null ? run() : limit(run);
    },
    end: async ({ timeout }: { readonly timeout?: number } = {}) => pool.end(timeout ?? null),
    limitedBy: (own: Limit) => createPoolSql(pool, kind, own),
  });
}

/** A statement is sent again, once, if nothing of it was stored and it may succeed now. */
function runPending(pool: Pool, pending: PendingStatement, need: Need): void {
  const retry = (error: Error): void => {
    if (pending.kind === 'prepared' && isStale(error)) pool.run({ ...pending, kind: 'unprepared' }, need);
    else if (isStatement(pending) && isLostRace(error)) setTimeout(() => pool.run(pending, need), lostRaceMs);
    else pending.reject(error);
  };
  pool.run({ ...pending, reject: retry }, need);
}

/** Not a text, of which a part may have been stored, or a copy, whose rows may be gone. */
function isStatement({ kind }: PendingStatement): boolean {
  return kind === 'prepared' || kind === 'unprepared';
}
