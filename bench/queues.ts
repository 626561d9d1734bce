import { connect } from '../packages/server/src/platform/database.ts';
import { againstBareRoute, firstSite, socketOf } from './api.ts';
import type { Entry } from './harness.ts';
import { requestsPerSecond } from './load.ts';
import { temporaryFolder } from './processes.ts';
import { call, signIn, startUsher, type Session } from './usher.ts';

const queuesOfSite = 100;
const [few, many] = [10, 10_000];

/** What a visitor's page asks for most: the queues of its site, with their status now. */
export const queues: Entry = {
  name: 'queues',
  async prepare(scope) {
    const small = await startWithSites(scope, few);
    const large = await startWithSites(scope, many);
    return [
      await againstBareRoute(scope, small.session, { name: `${queuesOfSite} queues of a site`, path: small.path }),
      {
        name: `${many} sites against ${few}`,
        unit: 'requests/s',
        ours: async () => requestsPerSecond(large.session, { method: 'GET', path: large.path, status: 200 }),
        peer: async () => requestsPerSecond(small.session, { method: 'GET', path: small.path, status: 200 }),
        // As fast, within a factor of 1.3.
        atLeast: 1 / 1.3,
      },
    ];
  },
};

/** A server whose first site has a hundred queues, among so many sites of its account that have one each. */
async function startWithSites(scope: AsyncDisposableStack, sites: number): Promise<{ session: Session; path: string }> {
  const usher = await startUsher(scope, temporaryFolder(scope));
  const session = await signIn(usher);
  const siteId = await firstSite(session);
  const { socketDirectory: directory, user, database } = socketOf(usher);
  const sql = connect({ kind: 'socket', directory, user, database }, { max: 1 });
  try {
    await sql`
      INSERT INTO sites
      SELECT (jsonb_populate_record(s, jsonb_build_object('id', gen_random_uuid(), 'name', 'Site ' || n))).*
        FROM sites s, generate_series(2, ${sites}) n WHERE s.id = ${siteId}`;
    await sql`
      INSERT INTO queues (id, account_id, site_id, name, capacity_policy, routing_policy, when_unstaffed,
                          operator_ranking_enabled)
      SELECT gen_random_uuid(), s.account_id, s.id, 'Queue ' || n, '{"type":"fixed","capacity":10}',
             '{"media":["text","audio"]}', 'accept', false
        FROM sites s, generate_series(1, CASE WHEN s.id = ${siteId} THEN ${queuesOfSite}::integer ELSE 1 END) n`;
    await sql`ANALYZE`;
  } finally {
    await sql.end();
  }
  const path = `/queues?site_ids[]=${siteId}`;
  const { body } = await call(session, { method: 'GET', path, status: 200 });
  const found = (JSON.parse(body) as { queues: unknown[] }).queues.length;
  if (found !== queuesOfSite) throw new Error(`the site has ${found} queues and not ${queuesOfSite}`);
  return { session, path };
}
