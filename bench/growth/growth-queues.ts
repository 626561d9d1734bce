import type { Sql } from '../../packages/server/src/platform/database/database.ts';
import { withDatabase } from '../measuring/databases.ts';
import { median, type Entry, type Limit } from '../measuring/harness.ts';
import { RawClient } from '../measuring/raw-client.ts';
import { firstSite, signIn, type Session, type Usher } from '../measuring/usher.ts';

/** How often a site changes in a round. */
const rounds = {
  full: { changes: 10, together: 20 },
  short: { changes: 2, together: 4 },
};

interface SiteLimits {
  readonly queues: number;
  readonly operators: number;
  /** Milliseconds in which one read is answered, and in which several at once are. */
  readonly oneMs: number;
  readonly togetherMs: number;
}

/** A large site must be fast, and a site ten times as large must be usable. */
const sites: Record<'full' | 'short', readonly SiteLimits[]> = {
  full: [
    { queues: 500, operators: 500, oneMs: 50, togetherMs: 100 },
    { queues: 5_000, operators: 5_000, oneMs: 250, togetherMs: 500 },
  ],
  short: [{ queues: 20, operators: 20, oneMs: 50, togetherMs: 100 }],
};

/** Teams of the site. Every second queue wants two of them, and every operator is in two. */
const teams = 50;

/** What a change of a large site costs: its queues must be evaluated again, for everybody who reads them. */
export const growthQueues: Entry = {
  name: 'growth-queues',
  async prepare(lab) {
    const limits: Limit[] = [];
    for (const site of sites[lab.size])
      limits.push(...(await limitsOf(await lab.startUsher(), site, rounds[lab.size])));
    return limits;
  },
};

async function limitsOf(
  usher: Usher,
  { queues, operators, oneMs, togetherMs }: SiteLimits,
  { changes, together }: (typeof rounds)['full'],
): Promise<Limit[]> {
  const floor = await openLargeSite(usher, { queues, operators });
  const across = `${queues.toLocaleString('en')} queues, ${operators.toLocaleString('en')} operators`;
  const readAfter = (what: string, change: () => Promise<void>): Limit => ({
    name: `GET /queues after ${what}, ${across}`,
    unit: 'ms',
    measure: async () => medianTime(changes, change, async () => read(floor)),
    atMost: oneMs,
  });
  return [
    readAfter('a change of presence', async () => changePresence(floor)),
    readAfter('a change of a queue', async () => changeQueue(floor)),
    readAfter('a visitor has come', async () => enter(floor)),
    {
      name: `PUT /queues, ${across}`,
      unit: 'ms',
      measure: async () => medianTime(changes, nothing, async () => changeQueue(floor)),
      atMost: 50,
    },
    {
      name: `${together} GET /queues at once after a change of presence, ${across}`,
      unit: 'ms until all are answered',
      measure: async () => medianTime(changes, async () => changePresence(floor), async () => readTogether(floor, together)), // prettier-ignore
      atMost: togetherMs,
    },
  ];
}

const nothing = async (): Promise<void> => undefined;

/** The median time of `work`, each time after a change. */
async function medianTime(times: number, change: () => Promise<void>, work: () => Promise<void>): Promise<number> {
  const took: number[] = [];
  for (let n = 0; n < times; n += 1) {
    await change();
    const began = performance.now();
    await work();
    took.push(performance.now() - began);
  }
  return median(took);
}

interface Floor {
  readonly session: Session;
  readonly client: RawClient;
  readonly token: string;
  readonly siteId: string;
  readonly queueIds: readonly string[];
  readonly self: { readonly id: string; available: boolean };
  /** How many changes there were. */
  changed: number;
}

interface SiteSize {
  readonly queues: number;
  readonly operators: number;
}

async function openLargeSite(usher: Usher, size: SiteSize): Promise<Floor> {
  const session = await signIn(usher);
  const siteId = await firstSite(session);
  const { queueIds, selfId } = await withDatabase(usher.databaseUrl, async (sql) => fill(sql, siteId, size));
  const token = session.headers['authorization']?.replace('Bearer ', '') ?? '';
  const self = { id: selfId, available: false };
  const floor = { session, client: new RawClient(usher.url), token, siteId, queueIds, self, changed: 0 };
  // The board of the account is loaded with the first change.
  await changePresence(floor);
  return floor;
}

async function fill(
  sql: Sql,
  siteId: string,
  { queues, operators }: SiteSize,
): Promise<{ queueIds: string[]; selfId: string }> {
  const [self] = await sql<{ id: string; account: string }[]>`
    SELECT operator_id AS id, account_id AS account FROM operator_assignments WHERE site_id = ${siteId} LIMIT 1`;
  if (self === undefined) throw new Error('the first start made no operator');
  await sql`
    INSERT INTO teams (id, account_id, site_id, name)
    SELECT md5('team ' || n)::uuid, ${self.account}, ${siteId}, 'Team ' || n FROM generate_series(0, ${teams - 1}::integer) n`;
  await fillOperators(sql, siteId, { account: self.account, operators });
  const made = await sql<{ id: string }[]>`
    INSERT INTO queues (id, account_id, site_id, name, capacity_policy, routing_policy, when_unstaffed, operator_ranking_enabled,
                        fallback_queue_id)
    SELECT md5('queue ' || n)::uuid, ${self.account}, ${siteId}, 'Queue ' || n, '{"type":"variable","multiplier":1.5}',
           jsonb_build_object(
             'media', CASE n % 3 WHEN 0 THEN '["text"]' WHEN 1 THEN '["text","audio"]' ELSE '[]' END::jsonb,
             'team_ids', CASE WHEN n % 2 = 0 THEN '[]' ELSE to_jsonb(ARRAY[md5('team ' || n % ${teams}::integer), md5('team ' || n / 2 % ${teams}::integer)]::uuid[]) END),
           'accept', false, CASE WHEN n % 4 = 0 AND n > 0 THEN md5('queue ' || n - 1)::uuid END
      FROM generate_series(0, ${queues - 1}::integer) n
    RETURNING id`;
  // Every queue has had visitors before, whose waits are averaged.
  await sql`
    INSERT INTO queue_states (queue_id, account_id, visitors, standing, waits)
    SELECT id, account_id, 0, 'opened', (SELECT array_agg(n * 100) FROM generate_series(1, 100) n) FROM queues
     WHERE site_id = ${siteId}
    ON CONFLICT (queue_id) DO UPDATE SET waits = EXCLUDED.waits`;
  await sql`VACUUM ANALYZE`;
  return { queueIds: made.map(({ id }) => id), selfId: self.id };
}

async function fillOperators(
  sql: Sql,
  siteId: string,
  { account, operators }: { readonly account: string; readonly operators: number },
): Promise<void> {
  await sql`
    INSERT INTO operators (id, account_id, name, email, role, max_engagement_count, available, media, presence_expires_at)
    SELECT md5('operator ' || n)::uuid, ${account}, 'Operator ' || n, 'operator-' || n || '@bench', 'operator', 1, n % 3 <> 0,
           CASE n % 4 WHEN 0 THEN '{text}' WHEN 1 THEN '{text,audio}' ELSE '{text,phone,audio,video}' END::text[],
           now() + interval '1 day'
      FROM generate_series(1, ${operators}::integer) n`;
  await sql`
    INSERT INTO operator_assignments (account_id, operator_id, site_id, role)
    SELECT account_id, id, ${siteId}, 'operator' FROM operators WHERE email LIKE 'operator-%@bench'`;
  await sql`
    INSERT INTO operator_teams (account_id, operator_id, site_id, team_id)
    SELECT ${account}, md5('operator ' || n)::uuid, ${siteId}, md5('team ' || n * k % ${teams}::integer)::uuid
      FROM generate_series(1, ${operators}::integer) n, generate_series(1, 2) k
    ON CONFLICT DO NOTHING`;
}

async function changePresence({ client, token, self }: Floor): Promise<void> {
  self.available = !self.available;
  await client.json(200, 'PUT', `/operators/${self.id}/presence`, token, { available: self.available });
}

function nextQueue(floor: Floor): string {
  floor.changed += 1;
  return floor.queueIds[floor.changed % floor.queueIds.length] ?? '';
}

async function changeQueue(floor: Floor): Promise<void> {
  const body = {
    name: `Changed ${floor.changed}`,
    capacity_policy: { type: 'variable', multiplier: 2 },
    routing_policy: { media: ['text'] },
  };
  await floor.client.json(200, 'PUT', `/queues/${nextQueue(floor)}`, floor.token, body);
}

/** A visitor of a queue whose operators are all away waits, and nobody is offered to anybody. */
async function enter(floor: Floor): Promise<void> {
  const { client, token, siteId } = floor;
  const visitor = await client.json<{ access_token: string }>(200, 'POST', '/visitors', token, { site_id: siteId });
  const ticket = { site_id: siteId, media: 'text', queue_ids: floor.queueIds.slice(0, 1) };
  await client.send('POST', '/queue_tickets', visitor.access_token, ticket);
}

async function read({ session: { url, headers }, siteId }: Floor): Promise<void> {
  const response = await fetch(`${url}/queues?site_ids[]=${siteId}`, { headers });
  await response.arrayBuffer();
  if (response.status !== 200) throw new Error(`GET /queues was answered ${response.status}`);
}

async function readTogether(floor: Floor, together: number): Promise<void> {
  await Promise.all(Array.from({ length: together }, async () => read(floor)));
}
