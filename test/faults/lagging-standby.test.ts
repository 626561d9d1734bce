import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Load } from '../support/faults/load.ts';
import { impatient, openFailoverWorld } from '../support/failover/world.ts';
import { proof } from '../support/proof.ts';
import { until } from '../support/server.ts';

/** With asynchronous replication the latest changes are lost with the primary: how often the standby lags and is promoted. */
const rounds = 4;

test(
  'a standby that lags is promoted: only what it did not have is lost, and feed readers are reset',
  { ...proof, timeout: 1_800_000 },
  async () => {
    await using opened = await openFailoverWorld({ topology: 'HAProxy', isSynchronous: false, changes: impatient });
    const { postgres, world } = opened;
    await using load = await Load.start(world, { chatsOnly: true });
    await load.goesOn(20);
    const mayBeLost = new Set<string>();
    for (let round = 0; round < rounds; round += 1) {
      const primary = await postgres.primary();
      const replicated = new Set(load.ledgers.snapshot());
      await postgres.untilReplicated();
      primary.cutReplication(true);
      await load.goesOn(20);
      // Readers and the receiver are sent what will never have happened.
      await load.catchesUp(load.ledgers.snapshot().filter((change) => !replicated.has(change)));
      const promotion = postgres.promotion(postgres.otherThan(primary));
      await primary.kill();
      for (const change of load.ledgers.snapshot()) if (!replicated.has(change)) mayBeLost.add(change);
      await promotion;
      primary.cutReplication(false);
      primary.launch();
      await load.goesOn(20);
      await postgres.untilHealthy();
      await world.untilReady();
    }
    const { acknowledged, lost, invented, outOfOrder, doubled, resets } = await load.end();
    const fromLog = lost.filter((each) => each.startsWith('log: ')).map((each) => each.slice('log: '.length));
    console.log(JSON.stringify({ rounds, acknowledged, lost: fromLog.length, invented: invented.length, resets }));
    assert.ok(fromLog.length >= rounds, 'the standby did not lag');
    assert.deepEqual(fromLog.filter((change) => !mayBeLost.has(change)), []); // prettier-ignore
    // What was sent and is not in the log was lost; nothing else was invented. Every reader was reset each time.
    assert.deepEqual(invented.filter((each) => !fromLog.includes(each.split(': ')[1] ?? '')), []); // prettier-ignore
    assert.ok(invented.length > 0);
    assert.ok(resets >= rounds * load.ledgers.feeds.length, `${resets} resets`);
    assert.deepEqual({ outOfOrder, doubled }, { outOfOrder: [], doubled: 0 });
    const [epochs] = await world.sql<{ count: number }[]>`SELECT count(*)::integer AS count FROM log_epochs`;
    assert.ok((epochs?.count ?? 0) > rounds);
    await until(() => world.slots.some(({ logged }) => (logged.get(lostMessage) ?? 0) > 0));
  },
);

/** What a process logs that has sent events which the database has lost. */
const lostMessage = 'the database has lost events that feed readers were sent: they are reset';
