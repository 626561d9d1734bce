import { randomUUID } from 'node:crypto';
import { call, type Json } from '../server.ts';
import {
  expectStatus,
  makeOperator,
  makeQueue,
  makeSite,
  makeTeam,
  type ServerHandle,
  type TestAccount,
} from '../world.ts';

/** Random numbers that are the same for the same seed. */
export class Dice {
  #state: number;
  constructor(seed: number) {
    this.#state = seed >>> 0 || 1;
  }
  /** At least 0 and less than `below`. */
  int(below: number): number {
    // mulberry32
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below);
  }
  one<Item>(items: readonly Item[]): Item {
    const item = items[this.int(items.length)];
    if (item === undefined) throw new Error('nothing to choose from');
    return item;
  }
  some<Item>(items: readonly Item[]): Item[] {
    return items.filter(() => this.int(2) === 0);
  }
  maybe(): boolean {
    return this.int(2) === 0;
  }
}

export type Values = Readonly<Record<string, string | null>>;

/** What a statistic counts, with one record of values for each of its sites and teams. */
export interface Fact {
  readonly values: readonly Values[];
  readonly startMs: number;
  readonly endMs: number;
  /** For a visit: whether the visitor was engaged from the queue. */
  readonly isServed?: boolean;
}

export interface History {
  readonly siteIds: readonly string[];
  readonly queueIds: readonly string[];
  readonly operatorIds: readonly string[];
  readonly teamIds: readonly string[];
  readonly from: number;
  readonly to: number;
  readonly engagements: readonly Fact[];
  readonly visits: readonly Fact[];
  readonly presence: readonly Fact[];
}

const hourMs = 3_600_000;
/** The range contains the change to daylight saving time in Europe. */
const from = Date.parse('2026-03-26T00:00:00Z');
const to = Date.parse('2026-04-01T00:00:00Z');

const chat = (medium: string): string => (medium === 'text' ? 'chat' : medium);
const media = ['text', 'phone', 'audio', 'video'];

/** Writes a random history of an account into its tables. Returns the facts. */
export async function writeHistory(server: ServerHandle, own: TestAccount, dice: Dice): Promise<History> {
  const siteIds = [own.siteId, await makeSite(server, own)];
  const teams = [];
  for (const siteId of [siteIds[0], siteIds[0], siteIds[1]])
    if (siteId !== undefined) teams.push({ siteId, id: await makeTeam(server, own, siteId) });
  const queues = [];
  for (const siteId of siteIds)
    for (let count = 0; count < 2; count += 1)
      queues.push({ siteId, id: await makeQueue(server, own, { site_id: siteId }) });
  const assignments = siteIds.map((site_id) => ({ site_id, role: 'operator' }));
  const operatorIds: string[] = [];
  for (let count = 0; count < 4; count += 1) operatorIds.push((await makeOperator(server, own, assignments)).id);
  const [account] = await server.database.sql<{ id: string }[]>`
    SELECT account_id AS id FROM operators WHERE id = ${own.adminId}`;
  const world: World = { server, accountId: account?.id ?? '', dice, siteIds, teams, queues, operatorIds };
  const history = {
    engagements: await writeEngagements(world),
    visits: await writeVisits(world),
    presence: await writePresence(world),
  };
  // Statistics must include the visits of a deleted queue.
  const gone = queues.pop();
  expectStatus(await call(server, `DELETE /queues/${gone?.id}`, { token: own.admin }), 204);
  return {
    ...history,
    from,
    to,
    siteIds,
    queueIds: [...queues.map(({ id }) => id), gone?.id ?? ''],
    operatorIds,
    teamIds: teams.map(({ id }) => id),
  };
}

interface World {
  readonly server: ServerHandle;
  readonly accountId: string;
  readonly dice: Dice;
  readonly siteIds: readonly string[];
  readonly teams: readonly { readonly siteId: string; readonly id: string }[];
  readonly queues: readonly { readonly siteId: string; readonly id: string }[];
  readonly operatorIds: readonly string[];
}

const iso = (at: number): string => new Date(at).toISOString();
const lengthMs = (dice: Dice): number => dice.one([500, 5_000, 60_000, 600_000, hourMs, 9 * hourMs]) + dice.int(30_000);

function teamsAt({ teams, dice }: World, siteId: string): string[] {
  return dice.some(teams.filter((team) => team.siteId === siteId)).map(({ id }) => id);
}

async function writeEngagements(world: World): Promise<Fact[]> {
  const { server, accountId, dice, siteIds, operatorIds, queues } = world;
  const facts: Fact[] = [];
  const engagements: Json[] = [];
  const subs: Json[] = [];
  const requests: Json[] = [];
  for (let count = 0; count < 120; count += 1) {
    const id = randomUUID();
    const requestId = randomUUID();
    const origin = dice.one(['visitor', 'operator']);
    const queueId = dice.maybe() ? dice.one(queues).id : null;
    let at = from + dice.int(to - from);
    const legs = Array.from({ length: 1 + dice.int(3) }, () => {
      const startMs = at;
      at += lengthMs(dice);
      const siteId = dice.one(siteIds);
      const [medium, highest] = [dice.one(media), dice.one(media)];
      return { id: randomUUID(), startMs, endMs: at, siteId, operatorId: dice.one(operatorIds), medium, highest, teamIds: teamsAt(world, siteId) }; // prettier-ignore
    });
    const isOver = dice.int(10) > 0;
    const endReason = dice.one(['visitor_hung_up', 'operator_left']);
    for (const [index, leg] of legs.entries()) {
      const isLast = index === legs.length - 1;
      const row = {
        id: leg.id, engagement_id: id, operator_id: leg.operatorId, site_id: leg.siteId, media: leg.medium,
        highest_media: leg.highest, operator_team_ids: leg.teamIds, started_at: iso(leg.startMs), ended_at: iso(leg.endMs),
      }; // prettier-ignore
      if (isLast)
        engagements.push({ ...row, engagement_started_at: iso(legs[0]?.startMs ?? 0), request_id: requestId, queue_id: queueId, ended_at: isOver ? row.ended_at : null, end_reason: isOver ? endReason : null }); // prettier-ignore
      else subs.push(row);
      if (isLast && !isOver) continue;
      const values = {
        site_id: leg.siteId, queue_id: queueId, operator_id: leg.operatorId,
        type: origin === 'visitor' ? 'reactive' : 'proactive',
        end_reason: isLast ? endReason : 'transferred', media: chat(leg.medium), highest_operator_media: chat(leg.highest),
        outcome: null, destination_queue_id: null, user_type: 'operator',
      }; // prettier-ignore
      const ofTeams = leg.teamIds.length === 0 ? [null] : leg.teamIds;
      facts.push({
        startMs: leg.startMs,
        endMs: leg.endMs,
        values: ofTeams.map((team_id) => ({ ...values, team_id })),
      });
    }
    requests.push({ id: requestId, origin, at: iso(legs[0]?.startMs ?? 0) });
  }
  const { sql } = server.database;
  await sql`
    INSERT INTO engagement_requests (id, account_id, site_id, kind, origin, visitor_id, operator_id, media, state, timeout_ms, notes, created_at, updated_at)
    SELECT id, ${accountId}, id, 'direct', origin, id, id, 'text', 'accepted', 1000, '{}', at, at
      FROM json_to_recordset(${JSON.stringify(requests)}::text::json) AS r (id uuid, origin text, at timestamptz)`;
  await sql`
    INSERT INTO engagements (id, account_id, asked_on_site_id, site_id, visitor_id, operator_id, sub_engagement_id, sub_started_at, media, request_id,
                             queue_id, end_reason, started_at, ended_at, updated_at, highest_media, operator_team_ids)
    SELECT engagement_id, ${accountId}, site_id, site_id, id, operator_id, id, started_at, media, request_id, queue_id, end_reason,
           engagement_started_at, ended_at, started_at, highest_media, operator_team_ids
      FROM json_to_recordset(${JSON.stringify(engagements)}::text::json) AS e (
             id uuid, engagement_id uuid, site_id uuid, operator_id uuid, started_at timestamptz, media text, request_id uuid, queue_id uuid,
             end_reason text, engagement_started_at timestamptz, ended_at timestamptz, highest_media text, operator_team_ids uuid[])`;
  await sql`
    INSERT INTO sub_engagements (id, account_id, engagement_id, operator_id, site_id, media, started_at, ended_at, highest_media, operator_team_ids)
    SELECT id, ${accountId}, engagement_id, operator_id, site_id, media, started_at, ended_at, highest_media, operator_team_ids
      FROM json_to_recordset(${JSON.stringify(subs)}::text::json) AS s (
             id uuid, engagement_id uuid, operator_id uuid, site_id uuid, media text, started_at timestamptz, ended_at timestamptz,
             highest_media text, operator_team_ids uuid[])`;
  return facts;
}

const outcomes: Readonly<Record<string, string>> = {
  engaged: 'engaged', engaged_elsewhere: 'engaged_elsewhere', canceled: 'abandoned', visitor_left: 'abandoned',
  unstaffed: 'unstaffed', expired: 'expired', moved: 'fallback',
}; // prettier-ignore

async function writeVisits({ server, accountId, dice, queues }: World): Promise<Fact[]> {
  const rows = Array.from({ length: 150 }, () => {
    const startMs = from + dice.int(to - from);
    const queue = dice.one(queues);
    const outcome = dice.one(Object.keys(outcomes));
    const destination = outcome === 'moved' ? dice.one(queues).id : null;
    return {
      ticket_id: randomUUID(), queue, queue_id: queue.id, outcome, destination_queue_id: destination, startMs,
      endMs: startMs + dice.one([0, 900, 4_999, 5_000, 20_000, 20_001, 300_000]) + dice.int(2) * dice.int(900_000),
      kind: dice.one(['visitor', 'transfer']), media: dice.one(media), hasTicket: dice.int(5) > 0,
    }; // prettier-ignore
  });
  const { sql } = server.database;
  const rowsJson = JSON.stringify(
    rows.map((row) => ({ ...row, entered_at: iso(row.startMs), left_at: iso(row.endMs) })),
  );
  await sql`
    INSERT INTO queue_visits (account_id, queue_id, ticket_id, enqueued_at, entered_at, left_at, outcome, destination_queue_id)
    SELECT ${accountId}, queue_id, ticket_id, entered_at, entered_at, left_at, outcome, destination_queue_id
      FROM json_to_recordset(${rowsJson}::text::json) AS v (
             queue_id uuid, ticket_id uuid, entered_at timestamptz, left_at timestamptz, outcome text, destination_queue_id uuid)`;
  await sql`
    INSERT INTO queue_tickets (id, account_id, site_id, visitor_id, seq, kind, media, state, criteria, narrowed_to, refusals, queue_ids, entered_at,
                               notes, enqueued_at, ended_at, updated_at)
    SELECT ticket_id, ${accountId}, queue_id, ticket_id, 0, kind, media, 'engaged', '', '{}', '{}', '{}', '{}', '{}', entered_at, left_at, left_at
      FROM json_to_recordset(${rowsJson}::text::json) AS v (
             queue_id uuid, ticket_id uuid, kind text, media text, entered_at timestamptz, left_at timestamptz, "hasTicket" boolean)
     WHERE "hasTicket"`;
  return rows.map(({ queue, outcome, destination_queue_id, kind, hasTicket, startMs, endMs, ...row }) => ({
    startMs,
    endMs,
    isServed: outcome === 'engaged',
    values: [
      {
        site_id: queue.siteId, queue_id: queue.id, operator_id: null, team_id: null, end_reason: null,
        highest_operator_media: null, user_type: null, destination_queue_id,
        type: hasTicket ? { visitor: 'reactive', transfer: 'proactive' }[kind] ?? null : null,
        media: hasTicket ? chat(row.media) : null,
        outcome: hasTicket && kind === 'transfer' && outcome === 'engaged' ? 'transferred' : (outcomes[outcome] ?? null),
      },
    ],
  })); // prettier-ignore
}

async function writePresence(world: World): Promise<Fact[]> {
  const { server, accountId, dice, siteIds, operatorIds } = world;
  const rows: Json[] = [];
  const facts: Fact[] = [];
  for (const operatorId of operatorIds) {
    let at = from - 20 * hourMs + dice.int(hourMs);
    while (at < to) {
      const startMs = at;
      at += lengthMs(dice);
      if (dice.int(5) === 0) continue;
      const state = {
        engaged: dice.int(3) === 0,
        available: dice.maybe(),
        media: dice.some(media),
        reason: dice.one([null, '', 'Lunch', 'missed_call']),
      };
      const sites = dice.some(siteIds);
      const teamsOfSites = sites.flatMap((siteId) => {
        const teams: (string | null)[] = teamsAt(world, siteId);
        return (teams.length === 0 ? [null] : teams).map((teamId) => ({ siteId, teamId }));
      });
      rows.push({
        ...state, operator_id: operatorId, started_at: iso(startMs), ended_at: iso(at),
        site_ids: teamsOfSites.map(({ siteId }) => siteId), team_ids: teamsOfSites.map(({ teamId }) => teamId),
      }); // prettier-ignore
      const values = {
        queue_id: null, operator_id: operatorId, type: typeOf(state), end_reason: null, media: null,
        highest_operator_media: null, outcome: null, destination_queue_id: null, user_type: 'operator',
      }; // prettier-ignore
      facts.push({
        startMs,
        endMs: at,
        values: teamsOfSites.map(({ siteId, teamId }) => ({ ...values, site_id: siteId, team_id: teamId })),
      });
    }
  }
  await server.database.sql`
    INSERT INTO presence_intervals (account_id, operator_id, engaged, available, media, reason, site_ids, team_ids, started_at, ended_at)
    SELECT ${accountId}, operator_id, engaged, available, media, reason, site_ids, team_ids, started_at, ended_at
      FROM json_to_recordset(${JSON.stringify(rows)}::text::json) AS i (
             operator_id uuid, engaged boolean, available boolean, media text[], reason text, site_ids uuid[], team_ids uuid[],
             started_at timestamptz, ended_at timestamptz)`;
  return facts;
}

function typeOf(state: {
  engaged: boolean;
  available: boolean;
  media: readonly string[];
  reason: string | null;
}): string {
  if (state.engaged) return 'engaged';
  const away = state.reason === null || state.reason === '' ? 'away' : state.reason;
  if (!state.available) return away;
  if (state.media.includes('video')) return 'video';
  if (state.media.includes('audio') || state.media.includes('phone')) return 'audio';
  return state.media.includes('text') ? 'chat' : away;
}
