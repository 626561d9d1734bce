import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { forThisFile } from '../support/fixture.ts';
import { call, startTestServer, type Json } from '../support/server.ts';
import { Dice } from '../support/people/statistics-history.ts';
import { expectStatus, makeAccount, makeOperator, makeSite, makeVisitor, type TestAccount } from '../support/world.ts';

/** `npm run prove` takes the long form. */
const isLong = process.env['PROVE'] !== undefined;
const [engagementCount, queryCount] = isLong ? [2_000, 1_000] : [150, 60];
const seed = isLong ? Math.floor(Math.random() * 2 ** 32) : 20_261_116;

const server = await forThisFile(startTestServer());

/** An engagement, and what a list looks at. */
interface Engagement {
  readonly id: string;
  readonly askedOn: string;
  readonly site: string;
  readonly visitor: string;
  readonly operator: string;
  /** Operators who have transferred it. */
  readonly former: readonly string[];
  readonly startedAt: number;
  readonly isActive: boolean;
}

interface Caller {
  readonly id: string;
  readonly token: string;
  readonly kind: 'operator' | 'visitor';
  /** The sites that the operator manages. */
  readonly manages: readonly string[];
}

interface World {
  readonly account: TestAccount;
  readonly sites: readonly string[];
  readonly operators: readonly Caller[];
  readonly visitors: readonly Caller[];
  readonly engagements: readonly Engagement[];
}

const first = Date.parse('2026-10-01T00:00:00Z');
/** Few, so that many engagements start at the same instant. */
const instants = 40;
const stepMs = 3_600_000;

async function makeWorld(dice: Dice): Promise<World> {
  const account = await makeAccount(server);
  const sites = [account.siteId, await makeSite(server, account)];
  const operators: Caller[] = [];
  for (const roles of [
    ['operator', 'operator'],
    ['operator', 'manager'],
    ['manager', 'manager'],
    ['operator', 'operator'],
  ]) {
    const assignments = sites.map((site_id, n) => ({ site_id, role: roles[n] ?? '' }));
    const { id, token } = await makeOperator(server, account, assignments);
    operators.push({ id, token, kind: 'operator', manages: sites.filter((_site, n) => roles[n] === 'manager') });
  }
  const visitors: Caller[] = [];
  for (let n = 0; n < 4; n += 1)
    visitors.push({ ...(await makeVisitor(server, account)), kind: 'visitor', manages: [] });
  const engagements = Array.from({ length: engagementCount }, () =>
    randomEngagement(dice, { sites, operators, visitors }),
  );
  await write(account, engagements);
  return { account, sites, operators, visitors, engagements };
}

function randomEngagement(dice: Dice, world: Pick<World, 'sites' | 'operators' | 'visitors'>): Engagement {
  const former = dice.int(3) === 0 ? dice.some(world.operators) : [];
  return {
    id: randomUUID(),
    askedOn: dice.one(world.sites),
    site: dice.one(world.sites),
    visitor: dice.one(world.visitors).id,
    operator: dice.one(world.operators).id,
    // Somebody may have had it twice.
    former: [...former, ...former.slice(0, 1)].map(({ id }) => id),
    startedAt: first + dice.int(instants) * stepMs,
    isActive: dice.int(10) === 0,
  };
}

async function write({ siteId }: TestAccount, engagements: readonly Engagement[]): Promise<void> {
  const { sql } = server.database;
  const at = (ms: number): string => new Date(ms).toISOString();
  const rows = engagements.map((e) => ({
    ...e,
    at: at(e.startedAt),
    sub_at: at(e.startedAt + e.former.length * 60_000),
  }));
  await sql`
    INSERT INTO engagements (id, account_id, asked_on_site_id, site_id, visitor_id, operator_id, sub_engagement_id, sub_started_at,
                             media, request_id, end_reason, started_at, ended_at, updated_at)
    SELECT e.id, s.account_id, e."askedOn", e.site, e.visitor, e.operator, gen_random_uuid(), e.sub_at, 'text', gen_random_uuid(),
           CASE WHEN NOT e."isActive" THEN 'operator_hung_up' END, e.at,
           CASE WHEN NOT e."isActive" THEN e.sub_at + interval '1 minute' END, now()
      FROM sites s,
           json_to_recordset(${JSON.stringify(rows)}::text::json) AS e (
             id uuid, "askedOn" uuid, site uuid, visitor uuid, operator uuid, at timestamptz, sub_at timestamptz, "isActive" boolean)
     WHERE s.id = ${siteId}`;
  await sql`
    INSERT INTO active_engagements (account_id, engagement_id)
    SELECT account_id, id FROM engagements WHERE ended_at IS NULL AND id = ANY(${engagements.map(({ id }) => id)}::uuid[])`;
  const legs = engagements.flatMap(({ id, site, former, startedAt }) =>
    former.map((operator, n) => ({
      id,
      site,
      operator,
      from: at(startedAt + n * 60_000),
      to: at(startedAt + (n + 1) * 60_000),
    })),
  );
  await sql`
    INSERT INTO sub_engagements (id, account_id, engagement_id, operator_id, site_id, media, started_at, ended_at)
    SELECT gen_random_uuid(), s.account_id, l.id, l.operator, l.site, 'text', l."from", l."to"
      FROM sites s,
           json_to_recordset(${JSON.stringify(legs)}::text::json) AS l (
             id uuid, site uuid, operator uuid, "from" timestamptz, "to" timestamptz)
     WHERE s.id = ${siteId}`;
}

interface Query {
  readonly caller: Caller;
  readonly sites: readonly string[];
  readonly operators: readonly string[] | null;
  readonly visitors: readonly string[] | null;
  readonly from: number | null;
  readonly to: number | null;
  readonly state: 'active' | 'ended' | null;
  readonly perPage: number;
}

function randomQuery(dice: Dice, { sites, operators, visitors }: World): Query {
  const caller = dice.one([...operators, ...operators, ...visitors]);
  const idsOf = (some: readonly Caller[]): string[] | null => (some.length === 0 ? null : some.map(({ id }) => id));
  const instant = (): number | null => (dice.int(3) === 0 ? first + dice.int(instants) * stepMs : null);
  return {
    caller,
    sites:
      caller.kind === 'visitor'
        ? [sites[0] ?? '']
        : dice.one([sites, sites.slice(0, 1), sites.slice(1), [...sites, ...sites]]),
    operators: dice.maybe() ? null : idsOf(dice.some(operators)),
    visitors: dice.int(3) > 0 ? null : idsOf(dice.some(visitors)),
    from: instant(),
    to: instant(),
    state: dice.one([null, null, 'active', 'ended']),
    perPage: dice.one([2, 7, 100]),
  };
}

/** By looking at every engagement. */
function listPlainly(world: World, query: Query): string[] {
  const { caller } = query;
  const isEngagedNow = (visitor: string): boolean =>
    world.engagements.some((e) => e.isActive && e.visitor === visitor && e.operator === caller.id);
  const isVisible = (e: Engagement): boolean => {
    if (caller.kind === 'visitor')
      return e.visitor === caller.id && (query.sites.includes(e.site) || query.sites.includes(e.askedOn));
    if (!query.sites.includes(e.site)) return false;
    const isOwn = e.operator === caller.id || e.former.includes(caller.id);
    return caller.manages.includes(e.site) || isOwn || (query.visitors !== null && isEngagedNow(e.visitor));
  };
  return world.engagements
    .filter(
      (e) =>
        isVisible(e) &&
        (query.operators === null || query.operators.includes(e.operator)) &&
        (query.visitors === null || query.visitors.includes(e.visitor)) &&
        (query.from === null || e.startedAt >= query.from) &&
        (query.to === null || e.startedAt < query.to) &&
        (query.state === null || e.isActive === (query.state === 'active')),
    )
    .toSorted((a, b) => b.startedAt - a.startedAt || (a.id < b.id ? 1 : -1))
    .map(({ id }) => id);
}

/** Page after page. */
async function listByPages(query: Query): Promise<string[]> {
  const { caller, from, to } = query;
  const parameters = new URLSearchParams({
    per_page: String(query.perPage),
    ...(from === null ? {} : { start_date: new Date(from).toISOString() }),
    ...(to === null ? {} : { end_date: new Date(to).toISOString() }),
    ...(query.state === null ? {} : { state: query.state }),
  });
  for (const id of query.sites) parameters.append('site_ids[]', id);
  for (const id of query.operators ?? []) parameters.append('operator_ids[]', id);
  for (const id of query.visitors ?? []) parameters.append('visitor_ids[]', id);
  const found: string[] = [];
  let path: string | null = `/engagements?${parameters.toString()}`;
  while (path !== null) {
    const { body } = expectStatus(await call(server, `GET ${path}`, { token: caller.token }), 200);
    found.push(...body.engagements.map(({ id }: Json) => id));
    path = body.next_page === null ? null : body.next_page.slice(server.url.length);
  }
  return found;
}

test(`random lists of engagements are those of a plain filter, for every kind of caller (seed ${seed})`, async () => {
  const dice = new Dice(seed);
  const world = await makeWorld(dice);
  let listed = 0;
  for (let n = 0; n < queryCount; n += 1) {
    const query = randomQuery(dice, world);
    const expected = listPlainly(world, query);
    assert.deepEqual(await listByPages(query), expected, JSON.stringify({ ...query, caller: query.caller.kind }));
    listed += expected.length;
  }
  assert.ok(listed > queryCount, 'most lists are not empty');
});
