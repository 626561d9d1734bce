import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { inspect } from 'node:util';
import { Load } from '../support/faults/load.ts';
import { failovers, type FailoverKind } from '../support/failover/failovers.ts';
import { impatient, openFailoverWorld, topologies, type FailoverWorld } from '../support/failover/world.ts';
import { isProof, proof } from '../support/proof.ts';
import { call, startTestServer, until } from '../support/server.ts';
import { expectStatus, makeAccount } from '../support/world.ts';

/**
 * Two processes serve visitors, operators, readers of the live feed and a webhook receiver, while the primary of two PostgreSQL servers under
 * Patroni fails in different ways. Replication is synchronous, so what was acknowledged must be everywhere in the end, once and in order.
 */
const seed = Number(process.env['PROVE'] ?? 0);
const longestMs = 3_600_000;
/** From the promotion to the first acknowledged change. The short form shares the machine with other tests. */
const longestRecoveryMs = isProof ? 3_000 : 30_000;
/** The long form uses the recipe as it is. In the short one a killed primary is replaced sooner. */
const changes = isProof ? {} : impatient;

const long: readonly FailoverKind[] = [
  ...(['switched over', 'killed', 'frozen', 'cut off'] as const),
  ...(['killed', 'switched over', 'cut off', 'frozen'] as const),
  ...(['switched over', 'killed'] as const),
];
const short: readonly FailoverKind[] = ['killed'];

for (const topology of isProof ? topologies : topologies.slice(0, 1)) {
  suite(`nothing acknowledged is lost when the primary fails (${topology})`, { timeout: longestMs }, () => {
    let opened: FailoverWorld | null = null;
    before(async () => {
      opened = await openFailoverWorld({ topology, changes });
    });
    after(async () => opened?.[Symbol.asyncDispose]());
    const kinds = isProof ? long : short;
    test(`failovers: ${kinds.join(', ')}`, async (t) => {
      assert.ok(opened);
      const { postgres, world } = opened;
      await using load = await Load.start(world);
      await load.goesOn(20);
      const runs: ({ readonly kind: FailoverKind } & Outage)[] = [];
      try {
        for (const kind of kinds) {
          const run = { kind, ...(await failOver(opened, load, kind)) };
          runs.push(run);
          console.log(JSON.stringify({ topology, ...run }));
        }
      } catch (error) {
        // Node reports it after the last test, which may be long after.
        console.log(inspect(error));
        for (const { name, log } of postgres.nodes) console.log(`${name}:\n${log}`);
        throw error;
      }
      await load.goesOn(20);
      const { acknowledged, lost, invented, outOfOrder, doubled, repeated, resets } = await load.end();
      const counts = { lost: lost.length, outOfOrder: outOfOrder.length, repeated };
      console.log(JSON.stringify({ topology, failovers: kinds.length, acknowledged, ...counts, seed }));
      t.diagnostic(`failed requests: ${JSON.stringify(Object.fromEntries(load.failures))}`);
      assert.deepEqual({ lost, invented, outOfOrder, doubled, resets }, nothing);
      assert.ok(!load.failures.has('503 without Retry-After'));
      const ends = world.slots.flatMap((slot) => slot.ends);
      assert.deepEqual(ends, [], 'a process has ended by itself');
      assert.deepEqual(runs.filter(({ recoveryMs }) => recoveryMs > longestRecoveryMs), []); // prettier-ignore
    });
    test(
      'a process whose server has become a standby reads, and refuses changes until it is the primary again',
      proof,
      async () => {
        assert.ok(opened);
        const { postgres } = opened;
        const own = await postgres.primary();
        await using server = await startTestServer({}, { kind: 'url', url: postgres.urlAt([own]) });
        const { admin: token, siteId } = await makeAccount(server);
        const change = async () => call(server, 'POST /teams', { token, body: { site_id: siteId, name: 'T' } });
        const read = async () => call(server, 'GET /teams', { token });
        expectStatus(await change(), 201);
        await postgres.switchOver();
        await until(async () => (await read()).status === 200 && (await change()).body.detail?.includes('read-only'));
        const refused = expectStatus(await change(), 503);
        assert.equal(refused.headers.get('retry-after'), '2');
        expectStatus(await read(), 200);
        await postgres.untilHealthy();
        await postgres.switchOver();
        await until(async () => (await change()).status === 201);
        await postgres.untilHealthy();
      },
    );
  });
}

const nothing = { lost: [], invented: [], outOfOrder: [], doubled: 0, resets: 0 };

interface Outage {
  /** From the failure of the primary to the first change that was acknowledged after the promotion. */
  readonly outageMs: number;
  /** From the promotion to that change. */
  readonly recoveryMs: number;
}

/** Makes the primary fail while both servers work. */
async function failOver({ postgres, world }: FailoverWorld, load: Load, kind: FailoverKind): Promise<Outage> {
  await postgres.untilHealthy();
  const primary = await postgres.primary();
  const { begin, end } = failovers[kind];
  const promotion = postgres.promotion(postgres.otherThan(primary));
  const failedAt = performance.now();
  const [promotedAt] = await Promise.all([promotion, begin(primary, postgres)]);
  await load.goesOn(1);
  // The old primary stays as it is until the new one serves.
  end(primary);
  await load.goesOn(20);
  await world.untilReady();
  const servedAt = load.ledgers.firstAfter(promotedAt);
  return { outageMs: Math.round(servedAt - failedAt), recoveryMs: Math.round(servedAt - promotedAt) };
}
