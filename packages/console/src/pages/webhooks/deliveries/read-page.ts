/** A page of a list whose filters may leave a response short or empty although there is more. */
export interface ReadPage<Row> {
  readonly rows: readonly Row[];
  /** The cursor of the next page; `null` at the end. */
  readonly next: string | null;
  /** The page is not full, because the search reached its limit: there may be more behind `next`. */
  readonly cutShort: boolean;
}

type ReadRows<Row> = (
  cursor: string | null,
  room: number,
) => Promise<{ readonly rows: readonly Row[]; readonly next: string | null }>;

/** The maximum of requests per page; each searches thousands of rows. */
const maxReads = 8;

/** Reads until the page is full, the list ends, or the limit is reached. */
export async function readPage<Row>(read: ReadRows<Row>, from: string | null, size: number): Promise<ReadPage<Row>> {
  const rows: Row[] = [];
  let next: string | null = from;
  for (let reads = 0; reads < maxReads; reads += 1) {
    const answer = await read(next, size - rows.length);
    rows.push(...answer.rows);
    next = answer.next;
    if (next === null || rows.length >= size) return { rows, next, cutShort: false };
  }
  return { rows, next, cutShort: true };
}

export function cursorOf(nextPage: string | null): string | null {
  return nextPage === null ? null : new URL(nextPage).searchParams.get('cursor');
}
