import { setTimeout as sleep } from 'node:timers/promises';
import { startCountingUsher, countStatements } from '../measuring/counting.ts';
import { withDatabase } from '../measuring/databases.ts';
import { FeedClient } from '../measuring/feed-client.ts';
import type { Entry } from '../measuring/harness.ts';
import { signIn, type Usher } from '../measuring/usher.ts';

/** Sites that a feed watches, each with a queue, and for how long statements are counted. */
const sizes = { full: { sites: 3_000, seconds: 6 }, short: { sites: 20, seconds: 0.5 } };

/** What open feeds cost while nothing happens: the queues of each site are looked at every two seconds, in memory. */
export const growthFeeds: Entry = {
  name: 'growth-feeds',
  async prepare(lab) {
    const { sites, seconds } = sizes[lab.size];
    const { usher, siteId } = await startCountingUsher(lab);
    await addSites(usher, siteId, sites);
    // Signed in again, so that the token is for all of them.
    const { headers } = await signIn(usher);
    const feed = new FeedClient(usher.url, headers['authorization']?.replace('Bearer ', '') ?? '');
    lab.scope.defer(() => feed.close());
    await feed.opened;
    return [
      {
        name: `statements of a process whose feeds watch ${sites.toLocaleString('en')} sites`,
        unit: 'statements/s',
        measure: async () => statementsPerSecond(usher, seconds),
        // A process looks for what is due, and shows that it is there. Reading each site once would be hundreds of statements.
        atMost: 30,
      },
    ];
  },
};

async function addSites({ databaseUrl }: Usher, siteId: string, count: number): Promise<void> {
  await withDatabase(databaseUrl, async (sql) => {
    await sql`
      INSERT INTO sites
      SELECT (jsonb_populate_record(s, jsonb_build_object('id', md5('site ' || n)::uuid, 'name', 'Site ' || n))).*
        FROM sites s, generate_series(2, ${count}::integer) n WHERE s.id = ${siteId}`;
    await sql`
      INSERT INTO operator_assignments (account_id, operator_id, site_id, role)
      SELECT a.account_id, a.operator_id, md5('site ' || n)::uuid, a.role
        FROM operator_assignments a, generate_series(2, ${count}::integer) n WHERE a.site_id = ${siteId}`;
    await sql`
      INSERT INTO queues (id, account_id, site_id, name, capacity_policy, routing_policy, when_unstaffed, operator_ranking_enabled)
      SELECT gen_random_uuid(), account_id, id, 'Queue', '{"type":"fixed","capacity":10}', '{}', 'accept', false FROM sites`;
    await sql`ANALYZE`;
  });
}

async function statementsPerSecond({ databaseUrl }: Usher, seconds: number): Promise<number> {
  return withDatabase(databaseUrl, async (sql) => {
    const before = await countStatements(sql);
    const began = performance.now();
    await sleep(seconds * 1000);
    const statements = (await countStatements(sql)) - before;
    return statements / ((performance.now() - began) / 1000);
  });
}
