import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { Sql } from '../../../packages/server/src/platform/database/database.ts';
import type { UsherProcess } from '../processes/process.ts';
import { hostname } from 'node:os';
import { scrape, type Scrape } from '../processes/metrics.ts';
import { logOf } from './tables.ts';

/** What one process uses. */
export interface ProcessSample {
  readonly rssMb: number;
  readonly heapMb: number;
  readonly externalMb: number;
  readonly files: number;
  readonly sockets: number;
  readonly cpuSec: number;
  /** The periodic tasks by their names in the metrics. */
  readonly work: ReadonlyMap<string, WorkSample>;
}

interface WorkSample {
  readonly intervalSec: number;
  /** How long ago the task last succeeded. */
  readonly ageSec: number;
  /** When the task last succeeded (Unix time in seconds). */
  readonly succeededAt: number;
  readonly failures: number;
}

/** A table with its partitions. */
export interface TableSample {
  readonly rows: number;
  readonly deadRows: number;
  readonly tableBytes: number;
  readonly indexBytes: number;
  readonly partitions: number;
  readonly inserted: number;
  readonly updated: number;
  readonly hotUpdated: number;
  readonly deleted: number;
  readonly autovacuums: number;
}

export interface Sample {
  readonly atSec: number;
  readonly processes: readonly ProcessSample[];
  readonly databaseCpuSec: number;
  readonly ownCpuSec: number;
  /** Connections of clients to the database, by state. */
  readonly connections: number;
  readonly tables: ReadonlyMap<string, TableSample>;
  readonly storedFiles: number;
  readonly databaseBytes: number;
}

const mb = (bytes: number): number => Math.round(bytes / 1e5) / 10;
/** Linux counts processor time in hundredths of a second. */
const ticksPerSec = 100;
/** PostgreSQL keeps this many bytes of an application name. */
const longestName = 63;

/** The name of a process in `pg_stat_activity`. */
const nameInDatabase = ({ child }: UsherProcess): string => `usher ${child.pid}@${hostname()}`.slice(0, longestName);

export class Sampler {
  readonly #sql: Sql;
  readonly #nodes: readonly UsherProcess[];
  readonly #dataDir: string;
  readonly #began = performance.now();
  #postmaster = 0;

  constructor(sql: Sql, nodes: readonly UsherProcess[], dataDir: string) {
    this.#sql = sql;
    this.#nodes = nodes;
    this.#dataDir = dataDir;
  }

  async take(): Promise<Sample> {
    const { user, system } = process.cpuUsage();
    return {
      atSec: Math.round((performance.now() - this.#began) / 100) / 10,
      processes: await Promise.all(this.#nodes.map(sampleProcess)),
      databaseCpuSec: await this.#databaseCpuSec(),
      ownCpuSec: (user + system) / 1e6,
      connections: await this.#connections(),
      tables: await this.#tables(),
      storedFiles: countFiles(join(this.#dataDir, 'files')),
      databaseBytes: await this.#databaseBytes(),
    };
  }

  async #connections(): Promise<number> {
    const sql = this.#sql;
    const names = this.#nodes.map(nameInDatabase);
    const [row] = await sql<{ count: number }[]>`
      SELECT count(*)::integer AS count FROM pg_stat_activity
       WHERE backend_type = 'client backend'
         AND application_name = ANY (${names}::text[])`;
    return row?.count ?? 0;
  }

  async #databaseBytes(): Promise<number> {
    const [row] = await this.#sql<{ bytes: number }[]>`SELECT pg_database_size(current_database())::float8 AS bytes`;
    return row?.bytes ?? 0;
  }

  /** PostgreSQL's main process counts its children once they have ended, so those that run are added. */
  async #databaseCpuSec(): Promise<number> {
    if (this.#postmaster === 0) {
      const [row] = await this.#sql<{ pid: number }[]>`SELECT pg_backend_pid() AS pid`;
      this.#postmaster = Number(statOf(row?.pid ?? 0)?.[1] ?? 0);
    }
    const own = statOf(this.#postmaster);
    const all = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
    const children = all.map((name) => statOf(Number(name))).filter((stat) => Number(stat?.[1]) === this.#postmaster);
    const ticks = (stat: readonly string[] | null, from: number, to: number): number =>
      (stat ?? []).slice(from, to).reduce((sum, each) => sum + Number(each), 0);
    return (ticks(own, 11, 15) + children.reduce((sum, stat) => sum + ticks(stat, 11, 13), 0)) / ticksPerSec;
  }

  async #tables(): Promise<Map<string, TableSample>> {
    await this.#sql`SELECT pg_stat_clear_snapshot()`;
    const rows = await this.#sql<(TableSample & { name: string })[]>`
      SELECT relname AS name, n_live_tup::float8 AS rows, n_dead_tup::float8 AS "deadRows",
             pg_table_size(relid)::float8 AS "tableBytes", pg_indexes_size(relid)::float8 AS "indexBytes",
             1 AS partitions, n_tup_ins::float8 AS inserted, n_tup_upd::float8 AS updated,
             n_tup_hot_upd::float8 AS "hotUpdated", n_tup_del::float8 AS deleted, autovacuum_count::float8 AS autovacuums
        FROM pg_stat_user_tables`;
    const tables = new Map<string, TableSample>();
    for (const { name, ...row } of rows) {
      const before = tables.get(logOf(name));
      tables.set(logOf(name), before === undefined ? row : sum(before, row));
    }
    return tables;
  }
}

function sum(one: TableSample, other: TableSample): TableSample {
  const keys = Object.keys(one) as (keyof TableSample)[];
  return Object.fromEntries(keys.map((key) => [key, one[key] + other[key]])) as Record<keyof TableSample, number>;
}

async function sampleProcess(node: UsherProcess): Promise<ProcessSample> {
  const metrics = await scrape(node);
  const proc = `/proc/${node.child.pid}`;
  const [, rssKb] = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`${proc}/status`, 'utf8')) ?? [];
  const targets = readdirSync(`${proc}/fd`).map((fd) => {
    try {
      return readlinkSync(`${proc}/fd/${fd}`);
    } catch {
      // It was closed meanwhile.
      return '';
    }
  });
  const stat = statOf(node.child.pid ?? 0) ?? [];
  return {
    rssMb: mb(Number(rssKb) * 1_024),
    heapMb: mb(metrics.get('nodejs_heap_size_used_bytes') ?? Number.NaN),
    externalMb: mb(metrics.get('nodejs_external_memory_bytes') ?? Number.NaN),
    files: targets.length,
    sockets: targets.filter((target) => target.startsWith('socket:')).length,
    cpuSec: (Number(stat[11]) + Number(stat[12])) / ticksPerSec,
    work: workOf(metrics),
  };
}

function workOf(metrics: Scrape): ProcessSample['work'] {
  const work = new Map<string, WorkSample>();
  const value = (metric: string, name: string): number => metrics.get(`${metric}{work="${name}"}`) ?? Number.NaN;
  for (const [series, succeededAt] of metrics) {
    const [, name] = /^usher_work_last_success_timestamp_seconds\{work="(.+)"\}$/.exec(series) ?? [];
    if (name === undefined) continue;
    work.set(name, {
      intervalSec: value('usher_work_interval_seconds', name),
      ageSec: Date.now() / 1_000 - succeededAt,
      succeededAt,
      failures: value('usher_work_failures_total', name),
    });
  }
  return work;
}

/** The fields of /proc/<pid>/stat after the name, from the state on; `null`: there is no such process. */
function statOf(pid: number): readonly string[] | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  } catch {
    return null;
  }
}

function countFiles(folder: string): number {
  try {
    return readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile()).length;
  } catch {
    return 0;
  }
}
