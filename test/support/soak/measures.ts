import type { Growth, Series } from './bounds.ts';
import type { ProcessSample, Sample, TableSample } from './samples.ts';
import { boundOf } from './tables.ts';

const round = (value: number): number => Math.round(value * 10) / 10;

/** Rows of what goes on are as many as conversations at the time, which come and go at random. */
const currentRows = 300;
/** A page of PostgreSQL. Tables and indexes grow by some of them. */
const pageBytes = 8_192;

/** Tables with a partition for each day. */
const logs: ReadonlySet<string> = new Set(['events', 'delivery_log', 'audit_log']);
/** Partitions that were planted and wait for the next sweep, or were dropped and wait to be created again. */
const plantedPartitions = 3;

/** What must not grow while the load is steady. In a run of seconds (`isLong` is false) memory, caches and connections still fill. */
export function boundedSeries(samples: readonly Sample[], isLong: boolean): Series[] {
  const series: Series[] = [];
  // Less than the 40 MB of the source maps, which Node loads for the first stack of an error: in a run without errors there is none.
  const memoryMargin = isLong ? 8 : 64;
  // Clients open more connections while the machine is slow. A leak of one for each feed would be 600 in an hour.
  const openMargin = isLong ? 40 : 80;
  // Buffers in caches: a few kilobytes. 64 KiB for each of some hundred entries must show.
  const externalMargin = isLong ? 2 : 64;
  samples[0]?.processes.forEach((_, index) => {
    const of = (read: (each: ProcessSample) => number): number[] =>
      samples.map(({ processes }) => (processes[index] === undefined ? Number.NaN : read(processes[index])));
    const name = `process ${index + 1}`;
    const margin = (second: number): number => 0.05 * second + memoryMargin;
    series.push(
      { name: `${name}: RSS (MB)`, values: of(({ rssMb }) => rssMb), margin, by: 'median' },
      { name: `${name}: heap after collection (MB)`, values: of(({ heapMb }) => heapMb), margin, by: 'least' },
      {
        name: `${name}: external memory (MB)`,
        values: of(({ externalMb }) => externalMb),
        margin: () => externalMargin,
        by: 'least',
      },
      { name: `${name}: file descriptors`, values: of(({ files }) => files), margin: () => openMargin, by: 'median' },
      { name: `${name}: sockets`, values: of(({ sockets }) => sockets), margin: () => openMargin, by: 'median' },
    );
  });
  const all = (read: (sample: Sample) => number): number[] => samples.map(read);
  series.push({
    name: 'database connections',
    values: all(({ connections }) => connections),
    margin: () => (isLong ? 6 : 30),
    by: 'median',
  });
  for (const [table, bound] of Object.entries(boundOf)) {
    const of = (read: (each: TableSample) => number): number[] =>
      samples.map(({ tables }) => (tables.get(table) === undefined ? 0 : read(tables.get(table) as TableSample)));
    if (bound === 'settings' || bound === 'current') {
      const spare = bound === 'current' ? currentRows : 50;
      series.push({ name: `${table}: rows`, values: of(({ rows }) => rows), margin: () => spare, by: 'median' });
      // Vacuum makes room in the pages that there are, but begins once a minute: in a run of seconds every dead row takes room.
      if (!isLong) continue;
      const bytes = (second: number): number => 0.1 * second + 16 * pageBytes;
      series.push(
        { name: `${table}: bytes`, values: of(({ tableBytes }) => tableBytes), margin: bytes, by: 'median' },
        { name: `${table}: bytes of indexes`, values: of(({ indexBytes }) => indexBytes), margin: bytes, by: 'median' },
      );
    }
    if (logs.has(table))
      series.push({
        name: `${table}: partitions`,
        values: of(({ partitions }) => partitions),
        margin: () => plantedPartitions,
        by: 'median',
      });
  }
  return series.map((each) => ({ ...each, values: each.values.map(round) }));
}

/** The samples at the end of each quarter. */
function atQuarters(samples: readonly Sample[]): (Sample | undefined)[] {
  return [0.25, 0.5, 0.75, 1].map((share) => samples[Math.ceil(share * samples.length) - 1]);
}

/** With fewer rows, the pages of the indexes are mostly empty. */
const fewRows = 2_000;

/** Tables whose rows are kept: what one row takes, in the table and its indexes. The rows grow with the work, and this must not grow. */
export function bytesPerRow(samples: readonly Sample[]): (Growth & { readonly rows: number })[] {
  return Object.entries(boundOf)
    .filter(([, bound]) => bound === 'history' || bound === 'kept for days')
    .map(([table]) => {
      const found = atQuarters(samples).map((sample) => sample?.tables.get(table));
      const quarters = found.map((each) =>
        each === undefined || each.rows === 0 ? 0 : Math.round((each.tableBytes + each.indexBytes) / each.rows),
      );
      const [, second = 0, , last = 0] = quarters;
      const allowed = Math.round(1.1 * second);
      const rows = found.at(-1)?.rows ?? 0;
      const isJudged = (found[1]?.rows ?? 0) >= fewRows;
      return { name: `${table}: bytes of a row`, rows, quarters, allowed, isBounded: !isJudged || last <= allowed };
    });
}

/** A hot table: how much it changes, and how much of it is dead. */
export interface HotTable {
  readonly table: string;
  readonly rows: number;
  /** Changed and deleted rows for each row of the table: a hot table has many. */
  readonly changes: number;
  readonly hotShare: number;
  readonly deadByQuarter: readonly number[];
  readonly mostDead: number;
  readonly bytesByQuarter: readonly number[];
  readonly indexBytesByQuarter: readonly number[];
  readonly autovacuums: number;
}

export function hotTables(samples: readonly Sample[], count: number): HotTable[] {
  const last = samples.at(-1);
  return [...(last?.tables ?? [])]
    .map(([table, { rows, updated, deleted, hotUpdated, autovacuums }]) => {
      const of = (read: (each: TableSample) => number): number[] =>
        atQuarters(samples).map((sample) => {
          const found = sample?.tables.get(table);
          return found === undefined ? 0 : read(found);
        });
      return {
        table,
        rows,
        changes: updated + deleted,
        hotShare: updated === 0 ? 0 : Math.round((100 * hotUpdated) / updated),
        deadByQuarter: of(({ deadRows }) => deadRows),
        mostDead: Math.max(...samples.map(({ tables }) => tables.get(table)?.deadRows ?? 0)),
        bytesByQuarter: of(({ tableBytes }) => tableBytes),
        indexBytesByQuarter: of(({ indexBytes }) => indexBytes),
        autovacuums,
      };
    })
    .toSorted((one, other) => other.changes - one.changes)
    .slice(0, count);
}
