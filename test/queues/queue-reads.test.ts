import assert from 'node:assert/strict';
import { test } from 'node:test';
import { forThisFile } from '../support/fixture.ts';
import { call, startTestServer, until, type Json, type TestServer } from '../support/server.ts';
import { Dice } from '../support/people/statistics-history.ts';
import {
  requestTicket,
  expectStatus,
  makeAccount,
  makeOperator,
  makePolicy,
  makeQueue,
  makeSite,
  makeTeam,
  policyFields,
  setPresence,
  queueFields,
  type TestAccount,
} from '../support/world.ts';

/** `npm run prove` takes the long form. */
const steps = process.env['PROVE'] === undefined ? 40 : 1_000;

const server = await forThisFile(startTestServer());
const other = await forThisFile(startTestServer({}, server.database.address));

async function list(at: TestServer, { admin }: TestAccount, siteId: string): Promise<Json[]> {
  return expectStatus(await call(at, `GET /queues?site_ids[]=${siteId}`, { token: admin }), 200).body.queues;
}

/** Each queue by itself: read from the database with its fallbacks, and evaluated without anything that was cached. */
async function readSingly(at: TestServer, { admin }: TestAccount, listed: readonly Json[]): Promise<Json[]> {
  const queues: Json[] = [];
  for (const { id } of listed)
    queues.push(expectStatus(await call(at, `GET /queues/${id}`, { token: admin }), 200).body);
  return queues;
}

const seed = process.env['PROVE'] === undefined ? 20_261_116 : Math.floor(Math.random() * 2 ** 32);

test(`after random changes, the list of queues equals the queues read singly, in two processes (seed ${seed})`, async () => {
  const dice = new Dice(seed);
  const world = await makeWorld();
  const { account, sites } = world;
  for (let step = 0; step < steps; step += 1) {
    await change(world, dice);
    const siteId = dice.one(sites);
    await compare(account, siteId, `step ${step}`);
    // The other process gets the notification a moment later.
    const textAt = async (at: TestServer): Promise<string> => JSON.stringify(await list(at, account, siteId));
    await until(async () => (await textAt(other)) === (await textAt(server)), 2_000);
  }
});

/**
 * A queue that was closed, or has lost its staff, loses its visitors with a turn after the change. That turn may come between the two
 * reads: then they are compared again. Everything that does not depend on visitors must be the same at once.
 */
async function compare(account: TestAccount, siteId: string, step: string): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    const listed = await list(server, account, siteId);
    const singly = await readSingly(server, account, listed);
    assert.deepEqual(listed.map(withoutVisitors), singly.map(withoutVisitors), step);
    const isSettled = JSON.stringify(await list(server, account, siteId)) === JSON.stringify(listed);
    if (isSettled || attempt === 5) {
      assert.deepEqual(listed, singly, step);
      return;
    }
  }
}

function withoutVisitors(queue: Json): Json {
  return { ...queue, visitors_count: 0, status: null, self_status: null, available_properties: null };
}

test("a change of an operator's teams is seen at once, and in the other process a moment later", async () => {
  const account = await makeAccount(server);
  const { siteId } = account;
  const team = await makeTeam(server, account, siteId);
  const operator = await makeOperator(server, account, [{ site_id: siteId, role: 'operator' }]);
  await setPresence(server, operator, { available: true });
  await makeQueue(server, account, { routing_policy: { team_ids: [team] } });
  for (const team_ids of [[], [team], [], [team]]) {
    const body = { assignments: [{ site_id: siteId, role: 'operator', team_ids }] };
    expectStatus(await call(server, `PATCH /operators/${operator.id}`, { token: account.admin, body }), 200);
    const isStaffed = async (at: TestServer): Promise<boolean> => (await list(at, account, siteId))[0]?.staffed;
    assert.equal(await isStaffed(server), team_ids.length > 0);
    await until(async () => (await isStaffed(other)) === team_ids.length > 0, 2_000);
  }
});

test('the notification of a change of teams is enough, if that of the staff comes later', async () => {
  const account = await makeAccount(server);
  const { siteId } = account;
  const team = await makeTeam(server, account, siteId);
  const operator = await makeOperator(server, account, [{ site_id: siteId, role: 'operator' }]);
  await setPresence(server, operator, { available: true });
  await makeQueue(server, account, { routing_policy: { team_ids: [team] } });
  const isStaffed = async (): Promise<boolean> => (await list(server, account, siteId))[0]?.staffed;
  assert.equal(await isStaffed(), false);
  await server.database.sql.begin(async (sql) => {
    // No trigger runs, so nothing is notified but this.
    await sql`SET LOCAL session_replication_role = replica`;
    const [row] = await sql`
      INSERT INTO operator_teams (account_id, operator_id, site_id, team_id)
      SELECT account_id, id, ${siteId}, ${team} FROM operators WHERE id = ${operator.id} RETURNING account_id`;
    await sql`SELECT pg_notify('usher_changes', ${`teams_of_operators:${row?.['account_id']}`})`;
  });
  await until(isStaffed, 2_000);
});

interface World {
  readonly account: TestAccount;
  readonly sites: readonly [string, string];
  readonly teams: readonly string[];
  readonly policy: string;
  readonly operators: readonly { readonly id: string; readonly token: string; readonly siteId: string }[];
  readonly queues: { readonly id: string; readonly siteId: string }[];
  readonly tickets: { readonly id: string; readonly token: string }[];
}

async function makeWorld(): Promise<World> {
  const account = await makeAccount(server);
  const sites = [account.siteId, await makeSite(server, account)] as const;
  const teams = [await makeTeam(server, account, sites[0]), await makeTeam(server, account, sites[0])];
  const operators: World['operators'][number][] = [];
  for (const [n, siteId] of [...sites, ...sites].entries()) {
    const team_ids = siteId === sites[0] ? teams.slice(0, n) : [];
    operators.push({
      ...(await makeOperator(server, account, [{ site_id: siteId, role: 'operator', team_ids }])),
      siteId,
    });
  }
  const queues = [];
  for (const siteId of [...sites, ...sites, ...sites])
    queues.push({ id: await makeQueue(server, account, { site_id: siteId }), siteId });
  return { account, sites, teams, policy: await makePolicy(server, account), operators, queues, tickets: [] };
}

/** One change of what the status of queues depends on. A change that is refused is none. */
async function change(world: World, dice: Dice): Promise<void> {
  const changes = [
    changePresence,
    changePresence,
    changeTeams,
    changeQueue,
    changeQueue,
    enter,
    enter,
    leave,
    changePolicy,
    addQueue,
    dropQueue,
  ];
  await dice.one(changes)(world, dice);
}

async function changePresence({ operators }: World, dice: Dice): Promise<void> {
  const media = dice.one([['text'], ['text', 'audio'], ['phone', 'video'], ['text', 'phone', 'audio', 'video']]);
  const { id, token } = dice.one(operators);
  // Refused while the operator is disabled.
  await call(server, `PUT /operators/${id}/presence`, {
    token,
    body: { available: dice.one([true, true, false]), media },
  });
}

/** Teams, or the site that the operator works on. */
async function changeTeams({ account, operators, sites, teams }: World, dice: Dice): Promise<void> {
  const site_id = dice.one(sites);
  const team_ids = site_id === sites[0] ? dice.one([[], teams.slice(0, 1), teams.slice(1), teams]) : [];
  const body = { assignments: [{ site_id, role: 'operator', team_ids }], enabled: dice.one([true, true, true, false]) };
  expectStatus(await call(server, `PATCH /operators/${dice.one(operators).id}`, { token: account.admin, body }), 200);
}

async function changeQueue({ account, queues, sites, teams, policy }: World, dice: Dice): Promise<void> {
  const queue = dice.one(queues);
  const isFirst = queue.siteId === sites[0];
  const body = {
    ...queueFields,
    name: `Queue ${dice.int(1_000)}`,
    capacity_policy: dice.one([
      { type: 'fixed', capacity: 2 },
      { type: 'variable', multiplier: 1.5 },
    ]),
    routing_policy: {
      media: dice.one([[], ['text'], ['audio', 'video']]),
      team_ids: isFirst ? dice.one([[], teams.slice(0, 1), teams]) : [],
    },
    when_unstaffed: dice.one(['accept', 'reject']),
    scheduling_policy_id: isFirst ? dice.one([null, policy]) : null,
    // Also a queue of the other site, and one whose fallback this queue is: that is refused.
    fallback_queue_id: dice.one([null, dice.one(queues).id]),
  };
  await call(server, `PUT /queues/${queue.id}`, { token: account.admin, body });
}

async function enter({ account, queues, tickets, sites }: World, dice: Dice): Promise<void> {
  const queue = dice.one(queues.filter(({ siteId }) => siteId === sites[0]));
  const { status, body, visitor } = await requestTicket(server, account, { queue_ids: [queue.id] });
  if (status === 201) tickets.push({ id: body.id, token: visitor.token });
}

async function leave({ tickets }: World): Promise<void> {
  const ticket = tickets.shift();
  if (ticket !== undefined)
    await call(server, `PATCH /queue_tickets/${ticket.id}`, { token: ticket.token, body: { action: 'cancel' } });
}

async function changePolicy({ account, policy }: World, dice: Dice): Promise<void> {
  const days = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];
  const inThreeDays = days[(new Date().getUTCDay() + 3) % 7] ?? '';
  const days_of_week = dice.one([days, [inThreeDays]]);
  const business_hours = [{ opens_at: '00:00', closes_at: '24:00', days_of_week }];
  const body = { ...policyFields, business_hours };
  expectStatus(await call(server, `PUT /queues/scheduling_policies/${policy}`, { token: account.admin, body }), 200);
}

async function addQueue({ account, queues, sites }: World, dice: Dice): Promise<void> {
  const siteId = dice.one(sites);
  const fallback_queue_id = dice.one([null, dice.one(queues).id]);
  queues.push({ id: await makeQueue(server, account, { site_id: siteId, fallback_queue_id }), siteId });
}

/** A queue that is in use stays, and so do the first two. */
async function dropQueue({ account, queues }: World, dice: Dice): Promise<void> {
  if (queues.length === 2) return;
  const queue = dice.one(queues.slice(2));
  const { status } = await call(server, `DELETE /queues/${queue.id}`, { token: account.admin });
  if (status === 204) queues.splice(queues.indexOf(queue), 1);
}
