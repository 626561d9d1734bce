import { againstBareRoute } from './api.ts';
import { withDatabase } from './databases.ts';
import type { Entry } from './harness.ts';
import type { Lab } from './lab.ts';
import { requestLoad, requestsPerSecond } from './load.ts';
import { call, firstSite, signIn, type Session } from './usher.ts';

/** Queues of the site that is asked for, and sites of a small and of a large account. */
const sizes = {
  full: { queuesOfSite: 100, few: 10, many: 10_000 },
  short: { queuesOfSite: 3, few: 2, many: 20 },
};

/** What a visitor's page asks for most: the queues of its site, with their status now. */
export const queues: Entry = {
  name: 'queues',
  async prepare(lab) {
    const { queuesOfSite, few, many } = sizes[lab.size];
    const load = requestLoad[lab.size];
    const small = await startWithSites(lab, { sites: few, queuesOfSite });
    const large = await startWithSites(lab, { sites: many, queuesOfSite });
    return [
      await againstBareRoute(lab, small.session, { name: `${queuesOfSite} queues of a site`, path: small.path }),
      {
        name: `${many} sites against ${few}`,
        unit: 'requests/s',
        ours: async () => requestsPerSecond(large.session, { method: 'GET', path: large.path, status: 200 }, load),
        peer: async () => requestsPerSecond(small.session, { method: 'GET', path: small.path, status: 200 }, load),
        // As fast, within a factor of 1.3.
        atLeast: 1 / 1.3,
      },
    ];
  },
};

/** A server whose first site has so many queues, among so many sites of its account that have one each. */
async function startWithSites(
  lab: Lab,
  { sites, queuesOfSite }: { readonly sites: number; readonly queuesOfSite: number },
): Promise<{ session: Session; path: string }> {
  const usher = await lab.startUsher();
  const session = await signIn(usher);
  const siteId = await firstSite(session);
  await withDatabase(usher.databaseUrl, async (sql) => {
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
  });
  const path = `/queues?site_ids[]=${siteId}`;
  const { body } = await call(session, { method: 'GET', path, status: 200 });
  const found = (JSON.parse(body) as { queues: unknown[] }).queues.length;
  if (found !== queuesOfSite) throw new Error(`the site has ${found} queues and not ${queuesOfSite}`);
  return { session, path };
}
