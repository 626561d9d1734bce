import type { ExportedAccount } from '../backup/format.ts';
import { quoted } from '../backup/store.ts';

/**
 * Columns whose values are true only in the installation that wrote them, and what they become, as SQL with the columns of the copied row.
 * A test compares the list with the types of all columns.
 *
 *   positions in the log   those of the transaction that imports: what is older than the move has one position, ordered by number
 *   clocks                 the difference to the installation's clock stays, so that times which still have to be moved are moved
 *   leases                 of processes of the other installation: nobody has them
 */
const changed: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  accounts: {
    clock_shift_ms: '(SELECT shift_ms FROM clock) - (source.shift_ms - copied.clock_shift_ms)',
    clock_outage_ms: '(SELECT outage_ms FROM clock) - (source.outage_ms - copied.clock_outage_ms)',
    moving_at: 'NULL',
  },
  destinations: {
    clock_shift_ms: '(SELECT shift_ms FROM clock) - (source.shift_ms - copied.clock_shift_ms)',
    owner: 'NULL',
    leased_until: "'-infinity'",
    owner_session: 'NULL',
    session_epoch: 'NULL',
  },
  events: { xid: 'source.log_position' },
  deliveries: { event_xid: 'source.log_position' },
  delivery_log: { event_xid: 'source.log_position' },
  webhook_recoveries: { asked_in: 'source.log_position' },
};

/** Numbers that each installation gives by itself; their order stays. */
const renumbered: Readonly<Record<string, string>> = {
  audit_log: 'seq',
  chat_messages: 'seq',
  presence_intervals: 'id',
  sms_messages: 'seq',
};

/** The statement that inserts the copied rows of `from` into the table. */
export function insertCopied(table: string, columns: readonly string[], from: string): string {
  const number = renumbered[table];
  const kept = columns.filter((column) => column !== number);
  const values = kept.map((column) => changed[table]?.[column] ?? `copied.${quoted(column)}`);
  return `INSERT INTO ${quoted(table)} (${kept.map(quoted).join(', ')})
          SELECT ${values.join(', ')} FROM ${quoted(from)} AS copied CROSS JOIN ${sourceTable} AS source
          ${number === undefined ? '' : `ORDER BY copied.${quoted(number)}`}`;
}

/** A temporary table with one row: what the values above refer to as `source`. */
const sourceTable = 'moving_source';

export function makeSource({ shiftMs, outageMs }: ExportedAccount): string {
  const [shift, outage] = [shiftMs, outageMs].map(Math.round);
  return `CREATE TEMP TABLE ${sourceTable} ON COMMIT DROP AS
          SELECT ${shift}::bigint AS shift_ms, ${outage}::bigint AS outage_ms, current_log_position() AS log_position`;
}

/** For the test that compares the lists with the schema. */
export function isHandled(table: string, column: string): boolean {
  return changed[table]?.[column] !== undefined || renumbered[table] === column;
}
