/** A page of a list whose filters may leave an answer short, or empty, with more behind it. */
export interface ReadPage<Row> {
  readonly rows: readonly Row[];
  /** Where the next page begins; `null`: there is none. */
  readonly next: string | null;
  /** It was not filled, as too much had to be looked through: there may be more of it behind `next`. */
  readonly cutShort: boolean;
}

type Ask<Row> = (
  cursor: string | null,
  room: number,
) => Promise<{ readonly rows: readonly Row[]; readonly next: string | null }>;

/** Each looks through thousands of rows. */
const mostReads = 8;

/** Reads on until the page is full, the list has ended, or enough has been looked through. */
export async function readPage<Row>(ask: Ask<Row>, from: string | null, size: number): Promise<ReadPage<Row>> {
  const rows: Row[] = [];
  let next: string | null = from;
  for (let reads = 0; reads < mostReads; reads += 1) {
    const answer = await ask(next, size - rows.length);
    rows.push(...answer.rows);
    next = answer.next;
    if (next === null || rows.length >= size) return { rows, next, cutShort: false };
  }
  return { rows, next, cutShort: true };
}

export function cursorOf(nextPage: string | null): string | null {
  return nextPage === null ? null : new URL(nextPage).searchParams.get('cursor');
}
