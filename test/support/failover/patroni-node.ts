import { chownSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import type { ChildProcess } from 'node:child_process';
import { join, resolve } from 'node:path';
import { connect, type PoolSql } from '../../../packages/server/src/platform/database/database.ts';
import { choosePostgresUser } from '../../../packages/server/src/platform/embedded/postgres-user.ts';
import { findOldestPostgres } from '../database/oldest-postgres.ts';
import { freePort } from '../network/free-port.ts';
import { replaceAll } from '../network/reverse-proxies.ts';
import { startProxy, type Proxy } from '../network/proxy.ts';
import { exists, signal, treeOf } from '../processes/process-tree.ts';
import { until } from '../server.ts';
import { findPatroni } from './programs.ts';

export interface NodeOptions {
  readonly name: string;
  readonly etcd: string;
  /** A folder for this node alone. */
  readonly folder: string;
  /** Replaces texts of the recipe. */
  readonly changes: Readonly<Record<string, string>>;
}

/**
 * A PostgreSQL under Patroni, as in `ops/patroni/patroni.yml`. It reaches etcd, and the other node reaches it, through proxies, so that it can
 * be cut off from both. Usher reaches it directly, also then: a primary that everybody else has lost is the worst one.
 */
export class PatroniNode {
  readonly name: string;
  /** Where Usher and HAProxy reach PostgreSQL and Patroni. */
  readonly port: number;
  readonly restPort: number;
  readonly #folder: string;
  readonly #program: string;
  readonly #proxies: readonly Proxy[];
  #patroni: ChildProcess | null = null;
  #frozen: readonly number[] = [];

  private constructor(options: {
    readonly name: string;
    readonly port: number;
    readonly restPort: number;
    readonly folder: string;
    readonly proxies: readonly Proxy[];
  }) {
    this.name = options.name;
    this.port = options.port;
    this.restPort = options.restPort;
    this.#folder = options.folder;
    this.#proxies = options.proxies;
    this.#program = findPatroni() ?? '';
    if (this.#program === '')
      throw new Error('Patroni was not found. Run npm test: it installs Patroni or says how to.');
  }

  static async start({ name, etcd, folder, changes }: NodeOptions): Promise<PatroniNode> {
    const [port, restPort] = [await freePort(), await freePort()];
    const toPostgres = await startProxy({ url: `http://127.0.0.1:${port}` });
    const toPatroni = await startProxy({ url: `http://127.0.0.1:${restPort}` });
    const toEtcd = await startProxy({ url: etcd });
    const hostOf = ({ url }: Proxy): string => new URL(url).host;
    const configuration = replaceAll(readFileSync(resolve('ops/patroni/patroni.yml'), 'utf8'), {
      'name: one': `name: ${name}`,
      'listen: 10.0.0.1:8008': `listen: 127.0.0.1:${restPort}`,
      'connect_address: 10.0.0.1:8008': `connect_address: ${hostOf(toPatroni)}`,
      // The etcd3 client of Patroni before 3.0.3 lets a frozen primary take the lock back (patroni#2689), so this is etcd's older protocol.
      // Without `use_proxies` Patroni asks etcd for its address, and goes there without the proxy.
      'etcd3:\n  hosts: 10.0.0.11:2379,10.0.0.12:2379,10.0.0.13:2379': `etcd:\n  hosts: ${hostOf(toEtcd)}\n  use_proxies: true`,
      'listen: 10.0.0.1:5432': `listen: 127.0.0.1:${port}`,
      'connect_address: 10.0.0.1:5432': `connect_address: ${hostOf(toPostgres)}`,
      '/usr/lib/postgresql/15/bin': findOldestPostgres() ?? '',
      // Patroni keeps its own passwords in the home of its user, who has none here.
      '/var/lib/postgresql/15/usher': `${join(folder, 'data')}\n  pgpass: ${join(folder, 'pgpass')}`,
      '/var/run/postgresql': folder,
      'local all all peer': 'local all all trust',
      '10.0.0.0/24': '127.0.0.0/8',
      ...changes,
    });
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'patroni.yml'), configuration);
    const node = new PatroniNode({ name, port, restPort, folder, proxies: [toPostgres, toPatroni, toEtcd] });
    node.launch();
    return node;
  }

  /** Starts Patroni, which starts PostgreSQL and joins the other node. */
  launch(): void {
    const runner = choosePostgresUser(this.#folder, this.#program);
    if (runner.owner !== null) chownSync(this.#folder, runner.owner.uid, runner.owner.gid);
    const child = runner.run(this.#program, [join(this.#folder, 'patroni.yml')], ['ignore', 'ignore', 'pipe'], false);
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      writeFileSync(join(this.#folder, 'patroni.log'), text, { flag: 'a' });
    });
    this.#patroni = child;
  }

  /** The last lines that Patroni has logged. */
  get log(): string {
    return readFileSync(join(this.#folder, 'patroni.log'), 'utf8').split('\n').slice(-15).join('\n');
  }

  /** A new way to this server, by its socket, as the superuser. The caller ends it. */
  connect(): PoolSql {
    const url = `postgres://postgres@localhost:${this.port}/postgres?host=${encodeURIComponent(this.#folder)}`;
    return connect({ kind: 'url', url }, { max: 1, connect_timeout: 1, backoffMs: () => 20 });
  }

  /** Whether Patroni answers 200: `primary`, `replica`, `synchronous`. */
  async is(role: 'primary' | 'replica' | 'synchronous'): Promise<boolean> {
    const answer = fetch(`http://127.0.0.1:${this.restPort}/${role}`, { signal: AbortSignal.timeout(2_000) });
    return (await answer.catch(() => null))?.ok === true;
  }

  /** Kills Patroni and PostgreSQL with all their processes. */
  async kill(): Promise<void> {
    const pids = this.#processes();
    signal(pids, 'SIGKILL');
    await until(() => !pids.some(exists));
    this.#patroni = null;
  }

  /** Nothing of Patroni and PostgreSQL runs until `thaw`. */
  freeze(): void {
    // What a process starts before it is stopped is found by the next search.
    for (let found = this.#processes(); found.length > this.#frozen.length; found = this.#processes()) {
      signal(found, 'SIGSTOP');
      this.#frozen = found;
    }
  }

  thaw(): void {
    signal(this.#frozen, 'SIGCONT');
    this.#frozen = [];
  }

  /** While it is cut off, nothing passes between the node on one side, and etcd and the other node on the other. */
  cutOff(isCutOff: boolean): void {
    for (const proxy of this.#proxies) proxy.swallow(isCutOff);
  }

  /** The standby gets no more changes, although both nodes and etcd work. */
  cutReplication(isCut: boolean): void {
    this.#proxies[0]?.shut(isCut);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
    for (const proxy of this.#proxies) await proxy[Symbol.asyncDispose]();
  }

  #processes(): number[] {
    const patroni = this.#patroni?.pid;
    return [...(patroni === undefined ? [] : treeOf(patroni)), ...treeOf(this.#postmaster())];
  }

  /** 0, which has no processes, if PostgreSQL does not run. Its file stays after a kill, when another process may get the same id. */
  #postmaster(): number {
    const data = join(this.#folder, 'data');
    try {
      const pid = Number(readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n')[0]);
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(data) ? pid : 0;
    } catch {
      return 0;
    }
  }
}
