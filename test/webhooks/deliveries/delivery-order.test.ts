import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startDurableCluster } from '../../support/database/durable-cluster.ts';
import { startEmbeddedCluster } from '../../support/database/embedded-cluster.ts';
import { startOldestPostgres } from '../../support/database/oldest-postgres.ts';
import {
  openEngagements,
  OrderLedger,
  startLedgerReceiver,
  writeInOrder,
} from '../../support/receivers/ordered-load.ts';
import { until } from '../../support/server.ts';
import { makeWebhook } from '../../support/receivers/webhooks.ts';

/** `npm run prove` runs the long form. */
const isLong = process.env['PROVE'] !== undefined;

const versions = [
  { name: 'the newest PostgreSQL', startPostgres: startEmbeddedCluster },
  { name: 'the oldest supported PostgreSQL', startPostgres: startOldestPostgres },
] as const;

/** A slow receiver falls behind, so the dispatcher reads for the others while it does not read for that one. */
const answersAfterMs = [0, 4, 8];

for (const { name, startPostgres } of versions)
  test(`on ${name} webhooks of an engagement arrive in the order of its messages under concurrent writes`, async () => {
    await using cluster = await startDurableCluster({ nodes: 1, startPostgres });
    const [node] = cluster.nodes;
    assert.ok(node);
    const engagements = await openEngagements(cluster.reach(node), isLong ? 20 : 6);
    const own = engagements[0]?.own;
    assert.ok(own);
    const receivers = await Promise.all(
      answersAfterMs.map(async (delayMs) => {
        const ledger = new OrderLedger();
        const receiver = await startLedgerReceiver(ledger, delayMs);
        await makeWebhook(cluster.reach(node), own, { url: receiver.url, events: ['engagement.chat.message'] });
        return { ledger, delayMs, receiver };
      }),
    );
    const began = performance.now();
    const acknowledged = await writeInOrder(engagements, isLong ? { seconds: 60, perSecond: 1_000 } : { seconds: 4 });
    const perSecond = Math.round(acknowledged.size / ((performance.now() - began) / 1_000));
    const haveAll = () => receivers.every(({ ledger }) => ledger.arrived >= acknowledged.size);
    await until(haveAll, 60_000).catch(() => undefined);
    for (const { receiver } of receivers) await receiver.close();
    for (const { ledger, delayMs } of receivers) {
      const { displaced, repeated, overtaken } = ledger;
      const worstDelayMs = Math.round(ledger.worstDelayMs);
      console.log(
        JSON.stringify({
          database: name,
          answersAfterMs: delayMs,
          messages: acknowledged.size,
          perSecond,
          displaced,
          worstDelayMs,
          repeated,
        }),
      );
      assert.deepEqual(ledger.missing(acknowledged), []);
      assert.equal(displaced, 0, `of ${acknowledged.size} messages were overtaken: ${JSON.stringify(overtaken)}`);
      assert.equal(repeated, 0);
    }
  });
