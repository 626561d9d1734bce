import type { Piece, Sql } from '../../platform/database.ts';
import type { SequenceCursor } from '../../platform/paging.ts';

/** So many rows of a source are looked at in one walk, whatever is wanted of them: each walk takes a bounded time. */
export const mostLookedAt = 10_000;

interface Source {
  /** A select with `event_seq` and `id` that an index serves: in the order of the walk, `mostLookedAt` rows at most. */
  readonly looked: () => Piece;
  /** Which of these, called `d`, are wanted. */
  readonly wanted: Piece;
}

interface Walk {
  readonly sources: readonly Source[];
  /** Columns of the sources beside `event_seq` and `id`. */
  readonly columns: readonly string[];
  readonly direction: 'up' | 'down';
  readonly limit: number;
}

export interface Walked<Row> {
  readonly rows: readonly Row[];
  /** Where the next walk goes on; `null`: there is nothing further. */
  readonly next: SequenceCursor | null;
}

/**
 * Walks sources in one common order until `limit` rows are found, or until one of the sources has been looked at enough:
 * then nothing is known of what it has behind that, and the walk ends there, with fewer rows or none. All of it is one
 * statement, so that a row which moves from one source to another is in one of them.
 */
export async function walk<Row extends { readonly event_seq: number; readonly id: string }>(
  sql: Sql,
  { sources, columns, direction, limit }: Walk,
): Promise<Walked<Row>> {
  const order = () => (direction === 'up' ? sql`event_seq, id` : sql`event_seq DESC, id DESC`);
  const among = (index: number) => sql(`source_${index}`);
  const joined = (parts: readonly Piece[], by: Piece) =>
    parts.map((part, index) => (index === 0 ? part : sql`${by} ${part}`));
  const found = await sql<(Row & { edge_seq: number | null; edge_id: string })[]>`
    WITH ${joined(
      sources.map(
        ({ looked, wanted }, index) => sql`
         ${among(index)} AS (
           SELECT * FROM (${looked()}) AS d WHERE ${wanted} ORDER BY ${order()} LIMIT ${limit})`,
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
         -- Only of a source that has not given all that was asked of it.
         edge AS (
           SELECT * FROM (${joined(
             sources.map(
               ({ looked }, index) => sql`
             (SELECT event_seq, id FROM (${looked()}) AS d
               WHERE (SELECT count(*) FROM ${among(index)}) < ${limit}
              OFFSET ${mostLookedAt - 1} LIMIT 1)`,
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
  // As PostgreSQL has them: by bytes, which their text in lower case is in the order of.
  const isLater = row.event_seq > edge.seq || (row.event_seq === edge.seq && row.id > edge.id);
  const isSame = row.event_seq === edge.seq && row.id === edge.id;
  return !isSame && isLater === (direction === 'up');
}
