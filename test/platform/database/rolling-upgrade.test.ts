import assert from 'node:assert/strict';
import { cpSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { knownMigrations } from '../../../packages/server/src/platform/database/migrations/migrations.ts';
import { startBalancer } from '../../support/network/balancer.ts';
import { startCluster, urlOf } from '../../support/processes/cluster.ts';
import {
  openEngagements,
  OrderLedger,
  startLedgerReceiver,
  writeInOrder,
} from '../../support/receivers/ordered-load.ts';
import { launch, temporaryDirectory, type UsherProcess } from '../../support/processes/process.ts';
import { call, until } from '../../support/server.ts';
import { hangMs } from '../../support/slowness.ts';
import { expectStatus } from '../../support/world.ts';
import { makeWebhook } from '../../support/receivers/webhooks.ts';

/** What a later version might bring: a column that it fills, a table, and an index that is built while others write. */
const laterMigrations = (version: number): readonly string[] => [
  `-- additive
ALTER TABLE engagements ADD COLUMN later_${version} text NOT NULL DEFAULT 'x';
CREATE TABLE later_${version} (id uuid PRIMARY KEY);
`,
  `-- additive, outside a transaction
CREATE INDEX CONCURRENTLY IF NOT EXISTS later_engagements_${version} ON engagements (id);
`,
];

/** Copies this version of the server and adds the migrations of the later versions up to this one. */
async function makeLaterVersion(folder: string, version: number): Promise<string> {
  const clone = join(folder, `version-${version}`);
  mkdirSync(clone);
  for (const name of ['bin', 'src', 'migrations', 'package.json'])
    cpSync(join('packages/server', name), join(clone, 'packages/server', name), { recursive: true });
  for (const name of ['node_modules', 'package.json']) symlinkSync(resolve(name), join(clone, name));
  const added = Array.from({ length: version }, (_, index) => laterMigrations(index + 1)).flat();
  const first = (await knownMigrations()).length + 1;
  for (const [index, text] of added.entries()) {
    const file = `${String(first + index).padStart(4, '0')}_later.sql`;
    writeFileSync(join(clone, 'packages/server/migrations', file), text);
  }
  return clone;
}

test(
  'two processes are replaced by newer versions one by one, twice, under load: no request fails and nothing is lost',
  { timeout: hangMs },
  async (t) => {
    const allowLoopback = { USHER_WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8' };
    await using cluster = await startCluster(2, allowLoopback);
    const folder = temporaryDirectory();
    t.after(() => folder.remove());
    let running: readonly UsherProcess[] = [...cluster.nodes];
    const [first] = running;
    assert.ok(first !== undefined);
    const balancer = await startBalancer(running.map(({ url }) => url));
    t.after(async () => balancer.close());
    const behind = { url: balancer.url, database: cluster.database };

    const engagements = await openEngagements(cluster.reach(first), 3);
    const [chat] = engagements;
    assert.ok(chat !== undefined);
    const ledger = new OrderLedger();
    const receiver = await startLedgerReceiver(ledger);
    t.after(async () => receiver.close());
    await makeWebhook(behind, chat.own, { url: receiver.url, events: ['engagement.chat.message'] });
    const stop = new AbortController();
    const writing = writeInOrder(
      engagements.map((engagement) => ({ ...engagement, server: behind })),
      { seconds: 200, perSecond: 60, signal: stop.signal },
    );
    writing.catch(() => undefined);

    for (const version of [1, 2]) {
      const clone = await makeLaterVersion(folder.path, version);
      for (const old of running) {
        const environment = { DATABASE_URL: urlOf(cluster.database.address), ...allowLoopback };
        const added = launch({ dataDir: cluster.dataDir, environment, clone });
        cluster.nodes.push(added);
        await added.ready();
        for (const process of [...running, added]) expectStatus(await call(process, 'GET /readyz'), 200);
        running = [...running.filter((process) => process !== old), added];
        balancer.targets = running.map(({ url }) => url);
        assert.equal(await old.stop(), 0);
      }
    }
    const atEnd = ledger.arrived;
    await until(() => ledger.arrived > atEnd + 20);
    stop.abort();
    const acknowledged = await writing;
    await until(() => ledger.arrived >= acknowledged.size, 30_000);

    assert.deepEqual(balancer.failures, []);
    assert.deepEqual(ledger.missing(acknowledged), []);
    assert.deepEqual({ displaced: ledger.displaced, repeated: ledger.repeated }, { displaced: 0, repeated: 0 });
    t.diagnostic(`${acknowledged.size} messages were acknowledged and delivered while four processes were replaced`);
  },
);
