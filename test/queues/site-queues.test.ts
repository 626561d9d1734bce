import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Sql } from '../../packages/server/src/platform/database/database.ts';
import type { AccountId } from '../../packages/server/src/platform/ids.ts';
import type { RowChanges } from '../../packages/server/src/platform/database/row-changes.ts';
import { SiteQueues } from '../../packages/server/src/queues/site-queues.ts';
import { forThisFile } from '../support/fixture.ts';
import { startTestServer } from '../support/server.ts';
import { makeAccount, makeOperator, makePolicy, makeQueue, setPresence, type TestAccount } from '../support/world.ts';

/** The cache of queues, with notifications that the test sends itself, and reads of a site that it counts. */
const server = await forThisFile(startTestServer());

async function openCache() {
  const account = await makeAccount(server);
  const [row] = await server.database.sql<{ account_id: AccountId }[]>`
    SELECT account_id FROM sites WHERE id = ${account.siteId}`;
  assert.ok(row);
  const counted = { reads: 0, fail: false };
  const sql = new Proxy(server.database.sql, {
    apply(target, self, args: [TemplateStringsArray, ...unknown[]]) {
      // The first statement of each read.
      if (args[0].raw?.some((text) => text.includes('linked'))) counted.reads += 1;
      if (counted.fail) throw new Error('no connection');
      return Reflect.apply(target, self, args);
    },
  }) as Sql;
  const changes: Pick<RowChanges, 'on' | 'onReset'> & { live: boolean } = {
    live: true,
    on: () => undefined,
    onReset: () => undefined,
  };
  const queues = new SiteQueues(sql, changes as RowChanges, server.clock);
  const accountId = row.account_id;
  return {
    account,
    queues,
    changes,
    counted,
    change: () => queues.invalidate(accountId),
    list: async (now?: number) => queues.list(accountId, account.siteId, now),
  };
}

async function rename(account: TestAccount, name: string): Promise<void> {
  await server.database.sql`UPDATE queues SET name = ${name} WHERE site_id = ${account.siteId}`;
}

test('calls share a read, and until a change the same list', async () => {
  const { account, counted, list } = await openCache();
  await makeQueue(server, account);
  const lists = await Promise.all(Array.from({ length: 20 }, async () => list()));
  assert.equal(new Set([...lists, await list()]).size, 1);
  assert.equal(counted.reads, 1);
});

test('calls after a change share one read that begins when the read under way has ended, and see the change', async () => {
  const { account, counted, list, change } = await openCache();
  await makeQueue(server, account);
  const early = list();
  await rename(account, 'Second');
  change();
  const second = Array.from({ length: 20 }, async () => list());
  await rename(account, 'Third');
  change();
  const third = Array.from({ length: 20 }, async () => list());
  await early;
  for (const queues of await Promise.all(third)) assert.equal(queues[0]?.name, 'Third');
  for (const queues of await Promise.all(second)) assert.notEqual(queues[0]?.name, 'Queue');
  assert.ok(counted.reads <= 3, `${counted.reads} reads`);
});

test('while notifications are not received, every call sees what was committed before it, and calls at once share reads', async () => {
  const { account, changes, counted, list } = await openCache();
  await makeQueue(server, account);
  changes.live = false;
  for (const name of ['One', 'Two', 'Three']) {
    await rename(account, name);
    assert.equal((await list())[0]?.name, name);
  }
  assert.equal(counted.reads, 3);
  await Promise.all(Array.from({ length: 20 }, async () => list()));
  assert.equal(counted.reads, 5, 'the first call does not wait, and the others share the next read');
});

test('a read that fails is reported to its callers, and the next call reads', async () => {
  const { account, counted, list } = await openCache();
  await makeQueue(server, account);
  counted.fail = true;
  const failed = await Promise.allSettled([list(), list()]);
  assert.deepEqual(failed.map(({ status }) => status), ['rejected', 'rejected']); // prettier-ignore
  counted.fail = false;
  assert.equal((await list()).length, 1);
});

test('a call that shares a read does not get the status of an instant before the call', async () => {
  const { account, counted, list } = await openCache();
  const policy = await makePolicy(server, account, {
    timezone: 'UTC',
    business_hours: [{ opens_at: '09:00', closes_at: '17:00', days_of_week: ['mon'] }],
  });
  await makeQueue(server, account, { when_unstaffed: 'accept', scheduling_policy_id: policy });
  const opens = Date.parse('2027-01-04T09:00:00Z');
  const [, [shared]] = await Promise.all([list(opens - 1), list(opens)]);
  assert.equal(shared?.status, 'opened');
  assert.equal(counted.reads, 1);
});

test('the site is read again when a presence lease has ended, because a renewed lease is not notified', async () => {
  const { account, counted, list } = await openCache();
  await makeQueue(server, account);
  const operator = await makeOperator(server, account, [{ site_id: account.siteId, role: 'operator' }]);
  await setPresence(server, operator, { available: true, expires_in_sec: 60 });
  const now = server.clock.databaseNow();
  assert.equal((await list(now))[0]?.status, 'opened');
  assert.equal((await list(now + 1_000))[0]?.status, 'opened');
  assert.equal(counted.reads, 1);
  assert.equal((await list(now + 120_000))[0]?.status, 'unstaffed');
  assert.equal(counted.reads, 2);
});
