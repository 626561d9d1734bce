import assert from 'node:assert/strict';
import { startDurableCluster, type DurableCluster } from '../database/durable-cluster.ts';
import { mountSmallDisk, type SmallDisk } from '../database/small-disk.ts';
import { startSteppedCluster, type SteppedCluster } from '../database/stepped-clocks.ts';
import { startDns, type TestDns } from '../network/dns.ts';
import type { Cluster } from '../processes/cluster.ts';
import { call, until } from '../server.ts';
import type { ServerHandle, TestAccount } from '../world.ts';
import type { StoredChanges } from './ledgers.ts';
import { Slot } from './slot.ts';

/** What a fault needs: a PostgreSQL that flushes every commit, one on a disk that can be filled, or clocks that can be stepped. */
export type WorldKind = 'durable' | 'small disk' | 'clocks';

const slotCount = 2;
/** A disk on which a new database fills two thirds. */
const diskSize = '300m';
/** So that PostgreSQL's log does not fill the disk on its own. */
const smallLog = { max_wal_size: '64MB', min_wal_size: '32MB' };

interface Foundation {
  readonly cluster: Cluster;
  readonly durable: DurableCluster | null;
  readonly stepped: SteppedCluster | null;
  readonly disk: SmallDisk | null;
}

/** Two processes on one PostgreSQL, each behind a proxy, and a DNS server. Faults are injected into all of them. */
export class FaultWorld {
  readonly slots: readonly Slot[];
  readonly dns: TestDns;
  /** The host name of webhook receivers, which `dns` resolves. */
  readonly receiverHost = 'receiver.test';
  readonly #foundation: Foundation;

  private constructor(slots: readonly Slot[], dns: TestDns, foundation: Foundation) {
    this.slots = slots;
    this.dns = dns;
    this.#foundation = foundation;
  }

  /** `null` if this machine cannot have such a world: only root may mount a disk. */
  static async open(kind: WorldKind): Promise<FaultWorld | null> {
    const dns = await startDns(() => ({ v4: ['127.0.0.1'], ttlSec: 1 }));
    const foundation = await lay(kind, settingsWith(dns));
    if (foundation === null) {
      await dns[Symbol.asyncDispose]();
      return null;
    }
    const slots: Slot[] = [];
    while (slots.length < slotCount) slots.push(await Slot.open(foundation.cluster));
    return new FaultWorld(slots, dns, foundation);
  }

  /** Processes that connect to these URLs by themselves, with the settings that `startCluster` is given. */
  static async serve(
    urls: readonly string[],
    startCluster: (environment: Readonly<Record<string, string>>) => Promise<Cluster>,
  ): Promise<FaultWorld> {
    const dns = await startDns(() => ({ v4: ['127.0.0.1'], ttlSec: 1 }));
    const cluster = await startCluster(settingsWith(dns));
    const slots = urls.map((url) => Slot.openAt(cluster, url));
    return new FaultWorld(slots, dns, { cluster, durable: null, stepped: null, disk: null });
  }

  get durable(): DurableCluster {
    return this.#foundation.durable ?? assert.fail('this world has no PostgreSQL that can be crashed');
  }

  get stepped(): SteppedCluster {
    return this.#foundation.stepped ?? assert.fail('the clocks of this world cannot be stepped');
  }

  get disk(): SmallDisk {
    return this.#foundation.disk ?? assert.fail('this world has no disk of its own');
  }

  /** A way to the database that has no faults of its own. */
  get sql(): Cluster['database']['sql'] {
    return this.#foundation.cluster.database.sql;
  }

  /** A running process, if possible another one than `failed`; `null` if none runs. */
  findUrl(failed: string | null): string | null {
    const running = this.slots.map(({ url }) => url).filter((url) => url !== null);
    const others = running.filter((url) => url !== failed);
    return (others.length > 0 ? others : running)[Math.floor(Math.random() * Math.max(1, others.length))] ?? null;
  }

  /** The process of this slot, or another one if it does not run; `null` if none runs. */
  reach(index: number): ServerHandle | null {
    const url = this.slots[index]?.url ?? this.findUrl(null);
    return url === null ? null : { url, database: this.#foundation.cluster.database };
  }

  /** Waits until every process is ready. Returns the first one. */
  async untilReady(): Promise<ServerHandle> {
    const isReady = async ({ url }: Slot): Promise<boolean> =>
      url !== null && (await call({ url }, 'GET /readyz').catch(() => null))?.status === 200;
    await until(async () => (await Promise.all(this.slots.map(isReady))).every(Boolean));
    return this.reach(0) ?? this.untilReady();
  }

  async readVersion(): Promise<string> {
    const [row] = await this.sql<{ version: string }[]>`SELECT current_setting('server_version') AS version`;
    return row?.version.split(' ')[0] ?? assert.fail('PostgreSQL has no version');
  }

  /** What the database has of an account. */
  async readStored({ adminId, siteId }: TestAccount): Promise<StoredChanges> {
    const { sql } = this;
    const events = await sql<StoredChanges['events'][number][]>`
      SELECT type, payload FROM events
       WHERE account_id = (SELECT account_id FROM operators WHERE id = ${adminId})
         AND type IN ('engagement.start', 'engagement.chat.message', 'engagement.end')
       ORDER BY seq`;
    const messages = await sql<{ content: string }[]>`
      SELECT m.content FROM chat_messages m JOIN engagements e ON e.id = m.engagement_id
       WHERE e.site_id = ${siteId}
       ORDER BY m.engagement_id, m.seq`;
    const tickets = await sql<{ id: string }[]>`SELECT id FROM queue_tickets WHERE site_id = ${siteId}`;
    return { events, messages: messages.map(({ content }) => content), tickets: tickets.map(({ id }) => id) };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.slots.map(async (slot) => slot.stop()));
    await this.#foundation.cluster[Symbol.asyncDispose]();
    this.#foundation.disk?.unmount();
    await this.dns[Symbol.asyncDispose]();
  }
}

function settingsWith({ address }: TestDns): Readonly<Record<string, string>> {
  return { USHER_DNS_SERVERS: address, USHER_LOG_LEVEL: 'warn' };
}

async function lay(kind: WorldKind, environment: Readonly<Record<string, string>>): Promise<Foundation | null> {
  switch (kind) {
    case 'clocks': {
      const stepped = await startSteppedCluster(0, environment);
      return { cluster: stepped, stepped, durable: null, disk: null };
    }
    case 'small disk': {
      const disk = mountSmallDisk(diskSize);
      if (disk === null) return null;
      const durable = await startDurableCluster({ nodes: 0, environment, parent: disk.path, settings: smallLog });
      return { cluster: durable, durable, disk, stepped: null };
    }
    case 'durable': {
      const durable = await startDurableCluster({ nodes: 0, environment });
      return { cluster: durable, durable, disk: null, stepped: null };
    }
  }
}
