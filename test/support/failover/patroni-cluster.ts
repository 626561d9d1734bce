import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { until } from '../server.ts';
import { startEtcd, type Etcd } from './etcd.ts';
import { PatroniNode } from './patroni-node.ts';

const password = 'known-to-the-test-alone';
/** A node that comes back is rewound, which copies what differs. */
const patienceMs = 90_000;
const pollMs = 20;

interface ClusterOptions {
  /** Replaces texts of `ops/patroni/patroni.yml`. */
  readonly changes?: Readonly<Record<string, string>>;
  readonly isSynchronous?: boolean;
}

/** Two PostgreSQL servers under Patroni, with the database `usher`. */
export class PatroniCluster {
  readonly nodes: readonly PatroniNode[];
  readonly #etcd: Etcd;
  readonly #folder: string;
  readonly #isSynchronous: boolean;

  private constructor(nodes: readonly PatroniNode[], etcd: Etcd, folder: string, isSynchronous: boolean) {
    this.nodes = nodes;
    this.#etcd = etcd;
    this.#folder = folder;
    this.#isSynchronous = isSynchronous;
  }

  static async start({ changes = {}, isSynchronous = true }: ClusterOptions): Promise<PatroniCluster> {
    const etcd = await startEtcd();
    const folder = mkdtempSync(join(tmpdir(), 'usher-patroni-'));
    // PostgreSQL runs as another user if the tests run as root.
    chmodSync(folder, 0o755);
    const mode = { 'synchronous_mode: true': `synchronous_mode: ${isSynchronous}` };
    const optionsOf = (name: string) => ({
      name,
      etcd: etcd.url,
      folder: join(folder, name),
      changes: { ...changes, ...mode },
    });
    const one = await PatroniNode.start(optionsOf('one'));
    const nodes = [one];
    const cluster = new PatroniCluster(nodes, etcd, folder, isSynchronous);
    try {
      // A node that finds no primary to copy waits for ten seconds.
      await until(async () => one.is('primary'), patienceMs);
      const admin = one.connect();
      await admin`CREATE ROLE usher LOGIN PASSWORD '${admin.unsafe(password)}'`;
      await admin`CREATE DATABASE usher OWNER usher`;
      await admin.end();
      nodes.push(await PatroniNode.start(optionsOf('two')));
      await cluster.untilHealthy();
    } catch (error) {
      for (const { name, log } of nodes) console.log(`${name}:\n${log}`);
      await cluster[Symbol.asyncDispose]();
      throw error;
    }
    return cluster;
  }

  /** The URL of the database at these hosts. */
  urlAt(hosts: readonly { readonly port: number }[], query = ''): string {
    return `postgres://usher:${password}@${hosts.map(({ port }) => `127.0.0.1:${port}`).join(',')}/usher${query}`;
  }

  /** The URL that names both servers. */
  get url(): string {
    return this.urlAt(this.nodes, '?target_session_attrs=read-write');
  }

  async primary(): Promise<PatroniNode> {
    return (await this.#find('primary')) ?? assert.fail('there is no primary');
  }

  otherThan(node: PatroniNode): PatroniNode {
    return this.nodes.find((other) => other !== node) ?? assert.fail('there is no other node');
  }

  /** Waits until there are a primary and a standby that may replace it at once. */
  async untilHealthy(): Promise<void> {
    await until(async () => {
      const primary = await this.#find('primary');
      if (primary === null) return false;
      return this.otherThan(primary).is(this.#isSynchronous ? 'synchronous' : 'replica');
    }, patienceMs);
    const sql = (await this.primary()).connect();
    try {
      await until(async () => (await sql`SELECT FROM pg_stat_replication WHERE state = 'streaming'`).length > 0);
    } finally {
      await sql.end({ timeout: 1 });
    }
  }

  /** Waits until the standby has everything that the primary has written by now. */
  async untilReplicated(): Promise<void> {
    const sql = (await this.primary()).connect();
    try {
      const [row] = await sql<{ at: string }[]>`SELECT pg_current_wal_lsn()::text AS at`;
      await until(
        async () =>
          (await sql`SELECT FROM pg_stat_replication WHERE flush_lsn >= ${row?.at ?? ''}::text::pg_lsn`).length > 0,
      );
    } finally {
      await sql.end({ timeout: 1 });
    }
  }

  /** The instant at which the standby was promoted, by `performance.now()`. */
  async promotion(standby: PatroniNode): Promise<number> {
    const sql = standby.connect();
    const deadline = performance.now() + patienceMs;
    try {
      while (performance.now() < deadline) {
        const [row] = await sql<{ is_standby: boolean }[]>`SELECT pg_is_in_recovery() AS is_standby`.catch(() => []);
        if (row?.is_standby === false) return performance.now();
        await pause(pollMs);
      }
    } finally {
      await sql.end({ timeout: 1 });
    }
    throw new Error(`${standby.name} was not promoted:\n${standby.log}`);
  }

  async switchOver(): Promise<void> {
    const leader = await this.primary();
    const body = JSON.stringify({ leader: leader.name, candidate: this.otherThan(leader).name });
    const answer = await fetch(`http://127.0.0.1:${leader.restPort}/switchover`, { method: 'POST', body });
    assert.equal(answer.status, 200, await answer.text());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const node of this.nodes) await node[Symbol.asyncDispose]();
    await this.#etcd[Symbol.asyncDispose]();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async #find(role: 'primary'): Promise<PatroniNode | null> {
    for (const node of this.nodes) if (await node.is(role)) return node;
    return null;
  }
}
