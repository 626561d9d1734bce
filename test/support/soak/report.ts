import type { Growth } from './bounds.ts';
import { bytesPerRow, hotTables } from './measures.ts';
import type { DayLedger } from './planted-days.ts';
import type { PlantedFiles } from './planted-files.ts';
import type { SweepLedger } from './planted-rows.ts';
import type { Sample } from './samples.ts';
import { latencies, quarters, type Traffic } from './traffic.ts';

export interface RunResult {
  readonly hours: number;
  readonly samples: readonly Sample[];
  readonly growths: readonly Growth[];
  readonly sweeps: readonly SweepLedger[];
  readonly days: readonly DayLedger[];
  readonly files: ReturnType<PlantedFiles['ledger']>;
  /** Rows that a sweep should have deleted, by table, the product's own included. */
  readonly overdue: Readonly<Record<string, number>>;
  /** Events for the steady receiver: those that it accepted, those that the log says were delivered, and others in the log. */
  readonly events: { readonly accepted: number; readonly delivered: number; readonly others: number };
  readonly storedFiles: { readonly rows: number; readonly onDisk: number };
  /** What the service acknowledged, and what is stored at the end: no sweep deletes it. */
  readonly history: Readonly<
    Record<'engagements' | 'messages', { readonly acknowledged: number; readonly rows: number }>
  >;
  /** Visitors of sites that were deleted and swept. */
  readonly orphanedVisitors: number;
  /** Periodic tasks that did not run in time. */
  readonly late: readonly string[];
  readonly sweepRuns: ReadonlyMap<string, number>;
  readonly traffic: Traffic;
}

type Cell = string | number;

function table(head: readonly string[], rows: readonly (readonly Cell[])[]): string {
  const line = (cells: readonly Cell[]): string => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map((_, index) => (index === 0 ? '---' : '---:'))), ...rows.map(line)].join('\n');
}

const kib = (bytes: number): number => Math.round(bytes / 1_024);
const inQuarters = ['quarter 1', 'quarter 2', 'quarter 3', 'quarter 4'];

/** Processor time per second of the run. */
export function coresOf(samples: readonly Sample[]): { usher: number; database: number; clients: number } {
  const [first, last] = [samples[0], samples.at(-1)];
  if (first === undefined || last === undefined) return { usher: 0, database: 0, clients: 0 };
  const per = (read: (sample: Sample) => number): number =>
    Math.round((100 * (read(last) - read(first))) / (last.atSec - first.atSec)) / 100;
  return {
    usher: per(({ processes }) => processes.reduce((sum, { cpuSec }) => sum + cpuSec, 0)),
    database: per(({ databaseCpuSec }) => databaseCpuSec),
    clients: per(({ ownCpuSec }) => ownCpuSec),
  };
}

/** The report as Markdown. */
export function describeRun(result: RunResult): string {
  const { hours, samples, growths, sweeps, days, files, sweepRuns, traffic } = result;
  const cores = coresOf(samples);
  const count = (what: string): number => traffic.counts.get(what) ?? 0;
  const perSec = (what: string): string => (count(what) / (hours * 3_600)).toFixed(1);
  const used = growths.filter(({ quarters: each }) => each.some((value) => value !== 0));
  return [
    `# Soak of ${hours < 0.1 ? `${Math.round(hours * 3_600)} seconds` : `${hours} hours`}`,
    `${perSec('conversation')} conversations, ${perSec('message')} messages and ${perSec('request')} requests a second. Processors: ${cores.usher} for Usher, ${cores.database} for PostgreSQL, ${cores.clients} for clients and receivers.`,
    '## What happened',
    table(
      ['what', 'how often'],
      [...traffic.counts].toSorted(([one], [other]) => one.localeCompare(other)),
    ),
    '## Latency',
    table(
      ['ms', ...inQuarters.flatMap((each) => [`${each} p50`, 'p99', 'max'])],
      latencies.map((what) => [
        what,
        ...Array.from({ length: quarters }, (_, quarter) => {
          const { p50Ms, p99Ms, maxMs } = traffic.quantiles(quarter, what);
          return [p50Ms, p99Ms, maxMs];
        }).flat(),
      ]),
    ),
    '## Bounded',
    table(
      ['what', ...inQuarters, 'allowed in quarter 4', 'bounded'],
      used.map((each) => [
        each.name,
        ...each.quarters,
        Math.round(each.allowed * 10) / 10,
        each.isBounded ? 'yes' : 'NO',
      ]),
    ),
    '## Sweeps',
    table(
      ['sweep', 'table', 'to delete', 'left', 'to keep', 'kept', 'runs'],
      [...sweeps, { sweep: 'drop_files', table: 'leftovers on the disk', ...files }].map((each) => [
        each.sweep,
        each.table,
        each.old,
        each.oldLeft,
        each.young,
        each.youngLeft,
        sweepRuns.get(each.sweep) ?? 0,
      ]),
    ),
    table(
      ['log', 'partitions to drop', 'left', 'to keep', 'kept', 'days ahead missing'],
      days.map((each) => [each.log, each.old, each.oldLeft, each.young, each.youngLeft, each.missing]),
    ),
    '## What is left',
    table(
      ['what', 'expected', 'found'],
      [
        [
          'rows that a sweep should have deleted',
          0,
          Object.values(result.overdue).reduce((sum, each) => sum + each, 0),
        ],
        ['visitors of deleted sites', 0, result.orphanedVisitors],
        ['stored files on the disk', result.storedFiles.rows, result.storedFiles.onDisk],
        ['events at the receiver that does not fail', result.events.delivered, result.events.accepted],
        [
          'engagements, of those acknowledged',
          result.history.engagements.acknowledged,
          result.history.engagements.rows,
        ],
        ['messages, of those acknowledged', result.history.messages.acknowledged, result.history.messages.rows],
      ],
    ),
    '## Tables that keep their rows',
    table(
      ['what', 'rows', ...inQuarters, 'allowed in quarter 4', 'bounded'],
      bytesPerRow(samples)
        .filter(({ rows }) => rows > 0)
        .map((each) => [each.name, each.rows, ...each.quarters, each.allowed, each.isBounded ? 'yes' : 'NO']),
    ),
    '## Hot tables',
    table(
      ['table', 'rows', 'updates and deletes', 'HOT %', 'dead rows', 'most', 'autovacuums', 'KiB', 'KiB of indexes'],
      hotTables(samples, 20).map((each) => [
        each.table,
        each.rows,
        each.changes,
        each.hotShare,
        each.deadByQuarter.join(', '),
        each.mostDead,
        each.autovacuums,
        each.bytesByQuarter.map(kib).join(', '),
        each.indexBytesByQuarter.map(kib).join(', '),
      ]),
    ),
  ].join('\n\n');
}
