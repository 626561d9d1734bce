import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { ensureSigningKey } from '../../packages/server/src/identity/signing-keys.ts';
import { openDatabase } from '../../packages/server/src/platform/database/database.ts';
import { migrate } from '../../packages/server/src/platform/database/migrations/migrations.ts';
import { startCluster, urlOf } from '../support/processes/cluster.ts';
import { startEmbeddedCluster } from '../support/database/embedded-cluster.ts';
import { audit, enqueueAll, openWorkday, serveAll } from '../support/people/ledger.ts';
import { launch, temporaryDirectory } from '../support/processes/process.ts';
import { startFaultProxy, type Fault } from '../support/database/fault-proxy.ts';
import { hangMs } from '../support/slowness.ts';
import { makeAccount } from '../support/world.ts';

/**
 * The steps of a turn are its messages to PostgreSQL: the lock with BEGIN (two steps if the statement must be prepared first), the reads
 * about visitors, the write with COMMIT. The first turns under load have at most these steps; `npm run prove` tests all.
 */
const all = Array.from({ length: 12 }, (_, index) => index + 1);
const steps = process.env['PROVE'] === undefined ? [1, 3, 4, 6, 8] : all;
const visitors = 12;

for (const when of ['before', 'after'] as const) {
  test(
    `after a process is killed ${when} any step of a turn, another continues, and nothing is lost or duplicated`,
    { timeout: hangMs },
    async (t) => {
      await using cluster = await startCluster(1);
      const [survivor] = cluster.nodes;
      if (survivor === undefined) throw new Error('no process has started');
      const wire = await startFaultProxy(cluster.database.address);
      try {
        for (const step of steps) {
          await t.test(`step ${step}`, async () => {
            const victim = await cluster.start(wire.url);
            const account = await makeAccount(cluster.reach(survivor));
            const day = await openWorkday(cluster.reach(survivor), account, visitors);
            let current = victim;
            const reach = () => cluster.reach(current);
            const kill = (): void => {
              victim.child.kill('SIGKILL');
              current = survivor;
            };
            const struck = wire.injectFault({ step, when, act: kill });
            await Promise.all([enqueueAll(day, reach), serveAll(day, reach)]);
            await struck;
            await audit(day, cluster.database.sql);
          });
        }
      } finally {
        wire.close();
      }
    },
  );
}

test(
  'a process continues after a lost connection at any step, or a lost response to a commit',
  { timeout: hangMs },
  async (t) => {
    await using cluster = await startCluster(0);
    const wire = await startFaultProxy(cluster.database.address);
    try {
      const node = await cluster.start(wire.url);
      const reach = () => cluster.reach(node);
      for (const when of ['before', 'after'] satisfies Fault['when'][]) {
        for (const step of steps) {
          // A lost connection is replaced, and on the new connection of the next step every statement is prepared again.
          await t.test(`${when} step ${step}`, async () => {
            const day = await openWorkday(reach(), await makeAccount(reach()), visitors);
            const struck = wire.injectFault({ step, when, act: () => undefined });
            await Promise.all([enqueueAll(day, reach), serveAll(day, reach)]);
            await struck;
            await audit(day, cluster.database.sql);
          });
        }
      }
    } finally {
      wire.close();
    }
  },
);

test('turns survive a kill and restart of the database', { timeout: hangMs }, async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'usher-turn-'));
  const scratch = temporaryDirectory();
  let postgres = await startEmbeddedCluster(dataDir);
  const database = openDatabase(postgres.address, 2);
  await migrate(database, ensureSigningKey);
  const environment = { DATABASE_URL: urlOf(postgres.address), USHER_RATE_LIMIT_PER_TOKEN: '1000000000' };
  const node = await launch({ dataDir: scratch.path, environment }).ready();
  try {
    const server = { url: node.url, database };
    const account = await makeAccount(server);
    const day = await openWorkday(server, account, 40);
    const restarts = (async () => {
      for (let round = 0; round < 2; round += 1) {
        await new Promise((resolve) => setTimeout(resolve, 150));
        await postgres.stop();
        postgres = await startEmbeddedCluster(dataDir);
      }
    })();
    await Promise.all([enqueueAll(day, () => server), serveAll(day, () => server), restarts]);
    await audit(day, database.sql);
  } finally {
    await node.stop('SIGKILL');
    await database.close(1_000);
    await postgres.stop();
    scratch.remove();
    rmSync(dataDir, { recursive: true, force: true });
  }
});
