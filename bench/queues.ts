import { compareWithBareRoute } from './api.ts';
import { withDatabase } from './measuring/databases.ts';
import type { Entry } from './measuring/harness.ts';
import type { Lab } from './measuring/lab.ts';
import { requestLoad, requestsPerSecond } from './measuring/load.ts';
import { call, firstSite, signIn, type Session } from './measuring/usher.ts';

/** The number of queues of the site that is read, and of sites in a small and in a large account. */
const sizes = {
  full: { queuesOfSite: 100, few: 10, many: 10_000 },
  short: { queuesOfSite: 3, few: 2, many: 20 },
};

/** The most frequent request of the widget: the queues of its site with their current status. */
export const queues: Entry = {
  name: 'queues',
  async prepare(lab) {
    const { queuesOfSite, few, many } = sizes[lab.size];
    const load = requestLoad[lab.size];
    const small = await startWithSites(lab, { sites: few, queuesOfSite });
    const large = await startWithSites(lab, { sites: many, queuesOfSite });
    return [
      await compareWithBareRoute(lab, small.session, {
        name: `${queuesOfSite} queues of a site`,
        path: small.path,
        atLeast: 0.85,
      }),
      {
        name: `${many} sites against ${few}`,
        unit: 'requests/s',
        ours: async () => requestsPerSecond(large.session, { method: 'GET', path: large.path, status: 200 }, load),
        peer: async () => requestsPerSecond(small.session, { method: 'GET', path: small.path, status: 200 }, load),
        // The large account may be slower by a factor of at most 1.3.
        atLeast: 1 / 1.3,
      },
    ];
  },
};

/** Starts a server with `sites` sites in its account. The first has `queuesOfSite` queues, the others one each. */
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
  if (found !== queuesOfSite) throw new Error(`the site has ${found} queues instead of ${queuesOfSite}`);
  return { session, path };
}
