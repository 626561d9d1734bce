import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startEmbeddedPostgres } from '../packages/server/src/platform/embedded-postgres.ts';
import { startDurableCluster } from './support/durable-cluster.ts';
import { startOldestPostgres } from './support/oldest-postgres.ts';
import { openEngagements, OrderLedger, startLedgerReceiver, writeInOrder } from './support/ordered-load.ts';
import { until } from './support/server.ts';
import { makeWebhook } from './support/webhooks.ts';

/** `npm run prove` takes the long form. */
const isLong = process.env['PROVE'] !== undefined;

const versions = [
  { name: 'the newest PostgreSQL', startPostgres: startEmbeddedPostgres },
  { name: 'the oldest supported PostgreSQL', startPostgres: startOldestPostgres },
] as const;

for (const { name, startPostgres } of versions)
  test(`on ${name} webhooks of one engagement arrive in the order of its messages while many write at once`, async () => {
    await using cluster = await startDurableCluster({ nodes: 1, startPostgres });
    const [node] = cluster.nodes;
    assert.ok(node);
    const engagements = await openEngagements(cluster.reach(node), isLong ? 20 : 6);
    const ledger = new OrderLedger();
    const receiver = await startLedgerReceiver(ledger);
    const own = engagements[0]?.own;
    assert.ok(own);
    await makeWebhook(cluster.reach(node), own, { url: receiver.url, events: ['engagement.chat.message'] });
    const began = performance.now();
    const acknowledged = await writeInOrder(engagements, isLong ? { seconds: 60, perSecond: 1_000 } : { seconds: 4 });
    const seconds = (performance.now() - began) / 1_000;
    await until(() => ledger.arrived >= acknowledged.size, 60_000).catch(() => undefined);
    await receiver.close();
    console.log(
      JSON.stringify({
        database: name,
        messages: acknowledged.size,
        perSecond: Math.round(acknowledged.size / seconds),
        displaced: ledger.displaced,
        worstDelayMs: Math.round(ledger.worstDelayMs),
        repeated: ledger.repeated,
      }),
    );
    assert.deepEqual(ledger.missing(acknowledged), []);
    assert.equal(ledger.displaced, 0, `${ledger.displaced} of ${acknowledged.size} messages were overtaken`);
    assert.equal(ledger.repeated, 0);
  });
