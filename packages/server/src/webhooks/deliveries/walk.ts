import type { SqlFragment, Sql } from '../../platform/database/database.ts';
import type { SequenceCursor } from '../../platform/http/paging.ts';

/** Rows of a source that one walk scans, matching or not, so that each walk takes a bounded time. */
export const maxScanned = 10_000;

interface Source {
  /** A SELECT of `event_seq`, `id` and more, served by an index in the order of the walk, with at most `maxScanned` rows. */
  readonly select: () => SqlFragment;
  /** Which rows `d` of the SELECT match. */
  readonly condition: SqlFragment;
}

interface Walk {
  readonly sources: readonly Source[];
  /** Columns of the sources beside `event_seq` and `id`. */
  readonly columns: readonly string[];
  readonly direction: 'up' | 'down';
  readonly limit: number;
}

export interface WalkResult<Row> {
  readonly rows: readonly Row[];
  /** Where the next walk continues; `null`: there are no more rows. */
  readonly next: SequenceCursor | null;
}

/**
 * Merges sources in one common order until `limit` rows are found, or until one source reaches `maxScanned`: rows behind that
 * point are unknown, so the walk ends there with fewer rows or none. All of it is one statement, so that a row that moves from
 * one source to another is found exactly once.
 */
export async function walk<Row extends { readonly event_seq: number; readonly id: string }>(
  sql: Sql,
  { sources, columns, direction, limit }: Walk,
): Promise<WalkResult<Row>> {
  const order = () => (direction === 'up' ? sql`event_seq, id` : sql`event_seq DESC, id DESC`);
  const among = (index: number) => sql(`source_${index}`);
  const joined = (parts: readonly SqlFragment[], by: SqlFragment) =>
    parts.map((part, index) => (index === 0 ? part : sql`${by} ${part}`));
  const found = await sql<(Row & { edge_seq: number | null; edge_id: string })[]>`
    WITH ${joined(
      sources.map(
        ({ select, condition }, index) => sql`
         ${among(index)} AS (
           SELECT * FROM (${select()}) AS d WHERE ${condition} ORDER BY ${order()} LIMIT ${limit})`,
      ),
      sql`,`,
    )},
         found AS (
           ${joined(
             sources.map((_, index) => sql`SELECT * FROM ${among(index)}`),
             sql`UNION ALL`,
           )}
            ORDER BY ${order()}
            LIMIT ${limit}),
         -- Only for sources that have found fewer rows than the limit.
         edge AS (
           SELECT * FROM (${joined(
             sources.map(
               ({ select }, index) => sql`
             (SELECT event_seq, id FROM (${select()}) AS d
               WHERE (SELECT count(*) FROM ${among(index)}) < ${limit}
              OFFSET ${maxScanned - 1} LIMIT 1)`,
             ),
             sql`UNION ALL`,
           )}) AS edges
            ORDER BY ${order()}
            LIMIT 1)
    SELECT edge.event_seq::float8 AS edge_seq, edge.id AS edge_id, found.event_seq::float8 AS event_seq, found.id,
           ${sql(columns.map((column) => `found.${column}`))}
      FROM (SELECT) AS always
      LEFT JOIN edge ON true
      LEFT JOIN found ON true
     ORDER BY ${direction === 'up' ? sql`found.event_seq, found.id` : sql`found.event_seq DESC, found.id DESC`}`;
  const { edge_seq: seq = null, edge_id: id = '' } = found[0] ?? {};
  const edge = seq === null ? null : { seq, id };
  const all = found.filter((row) => row.id !== null);
  const rows = edge === null ? all : all.filter((row) => !isBehind(row, edge, direction));
  const last = rows.at(-1);
  const isFull = last !== undefined && rows.length === limit;
  return { rows, next: isFull ? { seq: last.event_seq, id: last.id } : edge };
}

function isBehind(row: { event_seq: number; id: string }, edge: SequenceCursor, direction: Walk['direction']): boolean {
  // PostgreSQL orders UUIDs by bytes, which is the order of their text in lower case.
  const isLater = row.event_seq > edge.seq || (row.event_seq === edge.seq && row.id > edge.id);
  const isSame = row.event_seq === edge.seq && row.id === edge.id;
  return !isSame && isLater === (direction === 'up');
}
