import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readConfig } from '../../../packages/server/src/config.ts';
import { requestConnections } from '../../../packages/server/src/platform/database/pools.ts';
import { startCluster } from '../../support/processes/cluster.ts';
import { openFeed } from '../../support/people/feed.ts';
import { call, until } from '../../support/server.ts';
import { expectStatus, makeAccount, makeQueue, makeVisitor } from '../../support/world.ts';

const least = 25;
/** Requests have 2 connections, turns 4 and statistics 2. */
const busyPools = 8;

test('the minimum of USHER_DATABASE_POOL leaves two connections for requests, the default leaves ten', () => {
  assert.equal(requestConnections(readConfig({ USHER_DATABASE_POOL: String(least) })), 2);
  assert.equal(requestConnections(readConfig({})), 10);
  assert.throws(() => readConfig({ USHER_DATABASE_POOL: String(least - 1) }), /from 25 to 250, not "24"/);
});

test('a process never opens more connections than USHER_DATABASE_POOL, even when every statement waits', async () => {
  await using cluster = await startCluster(1, { USHER_DATABASE_POOL: String(least) });
  const [node] = cluster.nodes;
  assert.ok(node !== undefined);
  const server = cluster.reach(node);
  const { sql } = cluster.database;
  const accounts = await Promise.all(Array.from({ length: 4 }, async () => makeAccount(server)));
  const visitors = await Promise.all(
    accounts.map(async (account) => {
      await makeQueue(server, account);
      return makeVisitor(server, account);
    }),
  );
  const [own] = visitors;
  await using feed = await openFeed(node, { token: own?.token ?? '' });
  assert.equal(feed.headers.get('content-type')?.split(';')[0], 'text/event-stream');

  /** How many connections the process has, and how many of them wait for a lock. */
  const look = async (): Promise<{ open: number; waiting: number }> => {
    const [row] = await sql<{ open: number; waiting: number }[]>`
      SELECT count(*)::integer AS open, (count(*) FILTER (WHERE wait_event_type = 'Lock'))::integer AS waiting
        FROM pg_stat_activity
       WHERE datname = current_database() AND application_name LIKE ${`usher ${node.child.pid}@%`}`;
    return row ?? { open: 0, waiting: 0 };
  };
  let most = 0;
  await sql.begin(async (lock) => {
    await lock`LOCK TABLE accounts, teams, engagements, sub_engagements, events, destinations`;
    const requests = accounts.flatMap((account, index) => [
      ...Array.from({ length: 20 }, async () => call(node, 'GET /teams', { token: account.admin })),
      call(node, `GET /engagements/stats/duration?start_date=2026-01-01&end_date=2026-02-01`, { token: account.admin }),
      call(node, 'POST /queue_tickets', {
        token: visitors[index]?.token,
        body: { site_id: account.siteId, media: 'text' },
      }),
    ]);
    void Promise.allSettled(requests);
    let unchanged = 0;
    await until(async () => {
      const { open, waiting } = await look();
      unchanged = open > most ? 0 : unchanged + 1;
      most = Math.max(most, open);
      return unchanged >= 20 && waiting >= busyPools;
    });
  });
  assert.ok(most <= least, `${most} connections`);
  await until(async () => (await call(node, 'GET /readyz')).status === 200);
  const [first] = accounts;
  expectStatus(await call(node, 'GET /teams', { token: first?.admin }), 200);
});
