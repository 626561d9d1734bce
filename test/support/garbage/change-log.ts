import { connect, type DatabaseAddress } from '../../../packages/server/src/platform/database/database.ts';
import type { Json } from '../server.ts';

/** A row that a committed transaction has inserted, updated or deleted. */
export interface RowChange {
  readonly table: string;
  readonly operation: 'INSERT' | 'UPDATE' | 'DELETE' | 'TRUNCATE';
  readonly before: Json;
  readonly after: Json;
}

/**
 * Records every committed change of every table of a database, by triggers: what a refused request has changed. A request that writes
 * nothing costs nothing, and what was rolled back leaves no trace.
 */
export interface ChangeLog {
  /** The changes since the last call. */
  take(): Promise<RowChange[]>;
  close(): Promise<void>;
}

const schema = `
  CREATE SCHEMA garbage;
  CREATE UNLOGGED TABLE garbage.changes (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, relation text, operation text, before jsonb, after jsonb);
  CREATE FUNCTION garbage.record() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    INSERT INTO garbage.changes (relation, operation, before, after)
    VALUES (TG_ARGV[0], TG_OP, CASE WHEN TG_OP IN ('UPDATE', 'DELETE') THEN to_jsonb(OLD) END,
            CASE WHEN TG_OP IN ('INSERT', 'UPDATE') THEN to_jsonb(NEW) END);
    RETURN NULL;
  END $$;
  DO $$
  DECLARE name text;
  BEGIN
    -- A trigger of a partitioned table is one of each of its partitions, also of later ones.
    FOR name IN SELECT relname FROM pg_class
                 WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition LOOP
      EXECUTE format('CREATE TRIGGER record_change AFTER INSERT OR UPDATE OR DELETE ON public.%I
                      FOR EACH ROW EXECUTE FUNCTION garbage.record(%L)', name, name);
      EXECUTE format('CREATE TRIGGER record_truncate AFTER TRUNCATE ON public.%I
                      FOR EACH STATEMENT EXECUTE FUNCTION garbage.record(%L)', name, name);
    END LOOP;
  END $$;`;

/** After so many changes the table is vacuumed: it is read after each batch of requests, deleted rows included. */
const changesPerVacuum = 1_000;

/** Installs the triggers. */
export async function openChangeLog(address: DatabaseAddress): Promise<ChangeLog> {
  const sql = connect(address, { max: 1 });
  await sql.unsafe(schema);
  let sinceVacuum = 0;
  return {
    async take() {
      if (sinceVacuum > changesPerVacuum) {
        await sql`VACUUM garbage.changes`;
        sinceVacuum = 0;
      }
      const rows = await sql<{ id: string; relation: string; operation: string; before: Json; after: Json }[]>`
        DELETE FROM garbage.changes RETURNING id, relation, operation, before, after`;
      sinceVacuum += rows.length;
      return rows
        .toSorted((a, b) => Number(a.id) - Number(b.id))
        .map(({ relation: table, operation, before, after }) => ({
          table,
          operation: operation as RowChange['operation'],
          before,
          after,
        }));
    },
    async close() {
      await sql.end({ timeout: 1 });
    },
  };
}

interface BackgroundChange {
  readonly table: string;
  readonly because: string;
  /** Only while requests to these operations are sent. */
  readonly during?: RegExp;
  matches(change: RowChange): boolean;
}

/**
 * What changes without a request, or a while after one that was accepted. Everything else must stay as it is when a request is refused.
 * The rows from which background work starts are in other tables, or are inserted: a refused request cannot cause it unnoticed.
 */
const background: readonly BackgroundChange[] = [
  { table: 'clock', because: 'each process notes now and then that it is alive', matches: isUpdate },
  {
    table: 'operator_access_tokens',
    because: 'a token is marked as used once a minute',
    matches: isUpdateOf('last_used_at'),
  },
  {
    table: 'accounts',
    because: 'the board takes a turn after a change of the configuration and at deadlines',
    matches: isUpdateOf('turned_at', 'next_due_at', 'board_version', 'clock_outage_ms'),
  },
  { table: 'board_moves', because: 'a turn notes for other processes what it has moved', matches: () => true },
  { table: 'queue_states', because: 'a turn counts who waits', matches: () => true },
  { table: 'presence_intervals', because: 'a turn at a deadline ends the presence of operators', matches: () => true },
  { table: 'reported_states', because: 'a turn at a deadline reports who is available', matches: () => true },
  {
    table: 'engagement_requests',
    because: 'after an outage of the process deadlines are moved',
    matches: isUpdateOf('timeout_ms', 'updated_at'),
  },
  { table: 'visitor_authentication_requests', because: 'a worker asks the identity provider', matches: isUpdate },
  {
    table: 'events',
    because: 'the worker reports what the identity provider has said',
    matches: ({ after }) => after?.type?.startsWith('visitor.authentication.') === true,
  },
  { table: 'sms_messages', because: 'a worker hands messages to the carrier', matches: isUpdate },
  { table: 'webhook_recoveries', because: 'a worker repeats deliveries', matches: isUpdate },
  { table: 'deliveries', because: 'the worker inserts them', during: /\/recover$/, matches: () => true },
  { table: 'delivery_log', because: 'the worker marks what it repeats', during: /\/recover$/, matches: isUpdate },
  {
    table: 'sample_data',
    because: 'the process that simulates people renews its lease',
    during: /\/sample_data$/,
    matches: isUpdateOf('leased_until', 'epoch', 'settled'),
  },
  {
    table: 'any other',
    because: 'simulated people work, and deleted sample data is removed in pages for minutes',
    during: /\/sample_data$/,
    matches: ({ table }) => table !== 'sample_data',
  },
];

function isUpdate({ operation }: RowChange): boolean {
  return operation === 'UPDATE';
}

function isUpdateOf(...columns: readonly string[]): (change: RowChange) => boolean {
  return ({ operation, before, after }) =>
    operation === 'UPDATE' &&
    Object.keys(after).every(
      (name) => columns.includes(name) || JSON.stringify(before[name]) === JSON.stringify(after[name]),
    );
}

/** Whether the change needs no accepted request, while requests to this operation are sent. */
export function isBackground(change: RowChange, operation: string): boolean {
  const atThisTime = background.filter(({ during }) => during?.test(operation) !== false);
  return atThisTime.some((allowed) => ['any other', change.table].includes(allowed.table) && allowed.matches(change));
}
