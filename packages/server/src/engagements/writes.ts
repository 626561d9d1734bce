import { appendEvents } from '../events/append.ts';
import { inTransaction, isPool, fragment, type SqlFragment, type Sql } from '../platform/database/database.ts';
import type { AccountId, EngagementId } from '../platform/ids.ts';
import type { Log } from '../platform/log.ts';
import { currentTrace } from '../platform/watching/trace.ts';
import { lockEngaged, type AuthoredWrite } from './taking-part.ts';
import { WriteBatches } from './write-batches.ts';

/**
 * Every message, acknowledgement, typing indicator and visitor event is written by the statement of its kind, for any number of
 * writes but at most one per engagement. It locks the engagements with `lockTogether`, so it never waits for one, and returns what it
 * stored. Whatever is missing there is refused or stored already, or its engagement is locked.
 */
export type WriteStatement<Write extends AuthoredWrite, Stored> = (
  sql: Sql,
  writes: readonly Write[],
) => Promise<ReadonlyMap<EngagementId, Stored>>;

interface EngagementWritesOptions<Write extends AuthoredWrite, Stored> {
  /** The pool of the batches. */
  readonly sql: Sql;
  readonly statement: WriteStatement<Write, Stored>;
  readonly onCommitted: (accountId: AccountId, writes: number) => void;
  readonly log: Log;
  readonly subject: string;
}

/** Writes of one kind. */
export class EngagementWrites<Write extends AuthoredWrite, Stored> {
  readonly #statement: WriteStatement<Write, Stored>;
  readonly #batches: WriteBatches<Write, Stored>;

  constructor({ sql, statement, ...options }: EngagementWritesOptions<Write, Stored>) {
    this.#statement = statement;
    this.#batches = new WriteBatches({ ...options, writeBatch: async (writes) => statement(sql, writes) });
  }

  /** In the caller's transaction if there is one, otherwise in a batch. `null`: it is refused, or was stored before. */
  async write(sql: Sql, write: Write): Promise<Stored | null> {
    if (!isPool(sql)) return writeAlone(sql, write, this.#statement);
    const traced = withTrace(write);
    return this.#batches.write(traced, async () => lockAndWrite(sql, traced, this.#statement));
  }

  async stop(): Promise<void> {
    await this.#batches.stop();
  }
}

/** Writes one, in the caller's transaction if there is one. `null`: it is refused, or was stored before. */
export async function writeAlone<Write extends AuthoredWrite, Stored>(
  sql: Sql,
  write: Write,
  statement: WriteStatement<Write, Stored>,
): Promise<Stored | null> {
  return lockAndWrite(sql, withTrace(write), statement);
}

/** The trace is read when the request asks for the write: a batch runs in the context of whichever request started it. */
function withTrace<Write extends AuthoredWrite>(write: Write): Write {
  return { ...write, trace: currentTrace() };
}

/**
 * Waits for the engagement's lock in a statement of its own, because the statement that writes must see webhooks that were registered
 * meanwhile (D8.12). That statement then finds the engagement locked by its own transaction, and so decides about the write.
 */
async function lockAndWrite<Write extends AuthoredWrite, Stored>(
  pool: Sql,
  write: Write,
  statement: WriteStatement<Write, Stored>,
): Promise<Stored | null> {
  return inTransaction(pool, async (sql, finish) => {
    if ((await lockEngaged(sql, write.accountId, write.engagementId, write.by)) === null) return null;
    const writing = statement(sql, [write]);
    await finish([writing]);
    return (await writing).get(write.engagementId) ?? null;
  });
}

/** SQL for what an event needs besides the columns of `engaged` (`lockTogether`). */
interface AppendedEvent {
  readonly type: string;
  readonly at: string;
  readonly payload: string;
  /** The side that sent the message, if the event is about one. */
  readonly sender?: string;
}

/** The part of a statement that appends an event for each row of `from`, which has the columns of `engaged`. */
export function appendEventOfEach(from: string, { type, at, payload, sender = 'NULL' }: AppendedEvent) {
  return fragment((sql): SqlFragment =>
    appendEvents(
      sql,
      sql.unsafe(`
           SELECT account_id, event_id AS id, ${type} AS type, site_id, ticket_id, request_id, engagement_id, visitor_id,
                  operator_id, ${at} AS occurred_at, ${payload} AS payload, heard_by, ${sender} AS sender, traceparent, tracestate
             FROM ${from}`),
      { hasAttached: true },
    ),
  );
}
