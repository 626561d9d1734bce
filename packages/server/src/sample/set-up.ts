import { randomInt } from 'node:crypto';
import { eventTypes, traitsOf, type EventType } from '../events/catalogue.ts';
import type { WebhookId } from '../events/subscriptions/attach-webhooks.ts';
import { destinationFor } from '../events/subscriptions/destination.ts';
import { newSecret as newWebhookSecret, purposeOfSecret } from '../channels/webhook-secret.ts';
import { insertApiKey } from '../identity/api-keys/store.ts';
import { lockAccount } from '../identity/lock-account.ts';
import { newOperator } from '../identity/operators/operator.ts';
import { insertOperator, replaceAssignments } from '../identity/operators/store.ts';
import type { Seal } from '../identity/sealer.ts';
import { hashSecret, newSecret } from '../identity/secrets.ts';
import { siteFields } from '../identity/sites/site.ts';
import { insertSite } from '../identity/sites/store.ts';
import { insertTeam } from '../identity/teams/store.ts';
import { inTransaction, type Sql } from '../platform/database/database.ts';
import {
  newId,
  type AccountId,
  type OperatorId,
  type QueueId,
  type SchedulingPolicyId,
  type SiteId,
  type TeamId,
} from '../platform/ids.ts';
import { queueFields, type StoredQueue } from '../queues/queue.ts';
import { changeRankings } from '../queues/rankings/store.ts';
import { insertQueue } from '../queues/store.ts';
import { compileHours, isOpen } from '../schedules/hours.ts';
import { policyFields } from '../schedules/policy.ts';
import { insertPolicy } from '../schedules/store.ts';
import { insertWebhook } from '../webhooks/registrations/store.ts';
import type { PolicyName, SceneQueue, TeamName } from '@usher/sample/scene';
import type { SampleRow } from './sample-data.ts';
import { findSample, insertSample, setState } from './store.ts';

type Scene = Awaited<ReturnType<typeof loadScene>>;

/** Loads the content of sample data. Loading is slow, so it must not happen under the lock. */
export async function loadScene() {
  const [scene, { pastVisits }] = await Promise.all([import('@usher/sample/scene'), import('@usher/sample/history')]);
  return { ...scene, pastVisits };
}

export interface SampleInput {
  readonly scene: Scene;
  readonly accountId: AccountId;
  /** Becomes super_manager of the sample site. */
  readonly caller: OperatorId;
  /** The receiver of the sample webhook; `null`: no webhook is created. */
  readonly receiverUrl: string | null;
  readonly seal: Seal;
  /** The hash for the API keys of sample operators. Nobody knows the secret. */
  readonly secretHash: string;
}

/** Hashing is slow, so it must not happen under the lock. */
export async function newSecretHash(): Promise<string> {
  return hashSecret(newSecret('usk'));
}

/** Creates the sample data of an account in one transaction. Existing sample data is started again. */
export async function setUp(pool: Sql, input: SampleInput): Promise<{ row: SampleRow; created: boolean }> {
  return inTransaction(pool, async (sql) => {
    const { accountId, caller } = input;
    await lockAccount(sql, accountId);
    const existing = await findSample(sql, accountId);
    if (existing === null) return { row: await make(sql, input), created: true };
    if (existing.state !== 'removing') await join(sql, existing, caller);
    return { row: (await setState(sql, accountId, 'running')) ?? existing, created: false };
  });
}

/** Gives the caller access to sample data that a colleague created. */
async function join(sql: Sql, { account_id, site_id }: SampleRow, caller: OperatorId): Promise<void> {
  await sql`
    INSERT INTO operator_assignments (account_id, operator_id, site_id, role)
    VALUES (${account_id}, ${caller}, ${site_id}, 'super_manager')
    ON CONFLICT (operator_id, site_id) DO UPDATE SET role = excluded.role
     WHERE operator_assignments.role <> excluded.role`;
}

async function make(
  sql: Sql,
  { scene, accountId, caller, receiverUrl, seal, secretHash }: SampleInput,
): Promise<SampleRow> {
  const siteId = newId<SiteId>();
  const settings = siteFields.complete({ name: scene.siteName, time_zone: scene.timeZone }, null);
  await insertSite(sql, { id: siteId, accountId, settings, creator: caller });
  const site = { scene, accountId, siteId };
  const teamIds = await makeTeams(sql, site);
  const operatorIds = await makeOperators(sql, site, teamIds, secretHash);
  const policyIds = await makePolicies(sql, site);
  const queueIds = await makeQueues(sql, site, { teamIds, policyIds, operatorIds });
  // As a member of this team the caller is offered its visitors, once available.
  await sql`
    INSERT INTO operator_teams (account_id, operator_id, site_id, team_id)
    VALUES (${accountId}, ${caller}, ${siteId}, ${idIn(teamIds, 'support')})`;
  const seed = randomInt(2 ** 31);
  await makeHistory(sql, site, queueIds, seed);
  const webhookId = receiverUrl === null ? null : await makeWebhook(sql, site, receiverUrl, seal);
  return insertSample(sql, {
    account_id: accountId,
    site_id: siteId,
    operator_ids: operatorIds,
    webhook_id: webhookId,
    seed,
  });
}

interface SampleSite {
  readonly scene: Scene;
  readonly accountId: AccountId;
  readonly siteId: SiteId;
}

async function makeTeams(sql: Sql, { scene, accountId, siteId }: SampleSite): Promise<Map<TeamName, TeamId>> {
  const ids = new Map<TeamName, TeamId>();
  for (const [name, team] of Object.entries(scene.teams)) {
    const { id } = await insertTeam(sql, { id: newId(), account_id: accountId, site_id: siteId, ...team });
    ids.set(name as TeamName, id);
  }
  return ids;
}

async function makeOperators(
  sql: Sql,
  { scene, accountId, siteId }: SampleSite,
  teamIds: ReadonlyMap<TeamName, TeamId>,
  secretHash: string,
): Promise<OperatorId[]> {
  const ids: OperatorId[] = [];
  for (const player of scene.players) {
    const id = newId<OperatorId>();
    const [name, email] = [`${player.name} (sample)`, scene.emailOf(player, id)];
    await insertOperator(sql, id, accountId, newOperator({ name, email, max_engagement_count: player.maxEngagements }));
    const team_ids = player.teams.map((name) => idIn(teamIds, name));
    await replaceAssignments(sql, accountId, id, [{ site_id: siteId, role: 'operator', team_ids }]);
    await insertApiKey(sql, { id: newId<string>(), accountId, operatorId: id, secretHash }, 1);
    ids.push(id);
  }
  return ids;
}

async function makePolicies(
  sql: Sql,
  { scene, accountId, siteId }: SampleSite,
): Promise<Map<PolicyName, SchedulingPolicyId>> {
  const ids = new Map<PolicyName, SchedulingPolicyId>();
  for (const [name, given] of Object.entries(scene.policies(new Date()))) {
    const policy = policyFields.complete(given, null);
    const { id } = await insertPolicy(sql, { id: newId(), accountId, siteId, policy });
    ids.set(name as PolicyName, id);
  }
  return ids;
}

interface CreatedIds {
  readonly teamIds: ReadonlyMap<TeamName, TeamId>;
  readonly policyIds: ReadonlyMap<PolicyName, SchedulingPolicyId>;
  readonly operatorIds: readonly OperatorId[];
}

async function makeQueues(
  sql: Sql,
  { scene, accountId, siteId }: SampleSite,
  made: CreatedIds,
): Promise<Map<string, QueueId>> {
  const ids = new Map<string, QueueId>();
  for (const queue of scene.queues) {
    const row = await insertQueue(sql, { id: newId(), accountId, siteId }, storedQueue(queue, made, ids));
    const ranks = (queue.ranked ?? []).flatMap((player, index) => {
      const id = made.operatorIds[player];
      return id === undefined ? [] : [{ id, rank: index + 1 }];
    });
    await changeRankings(sql, row, ranks);
    ids.set(queue.name, row.id);
  }
  return ids;
}

function storedQueue(queue: SceneQueue, made: CreatedIds, queueIds: ReadonlyMap<string, QueueId>): StoredQueue {
  const given = {
    name: queue.name,
    description: queue.description,
    capacity_policy: queue.capacity,
    routing_policy: {
      media: queue.media,
      ...(queue.teams.length === 0 ? {} : { team_ids: queue.teams.map((name) => idIn(made.teamIds, name)) }),
    },
    when_unstaffed: queue.acceptsUnstaffed === true ? 'accept' : 'reject',
    operator_ranking_enabled: queue.ranked !== undefined,
    welcome_message: queue.welcome,
    scheduling_policy_id: idIn(made.policyIds, queue.policy),
    fallback_queue_id: queue.fallback === undefined ? null : idIn(queueIds, queue.fallback),
  } as const;
  return queueFields.complete(given, null);
}

async function makeHistory(
  sql: Sql,
  { scene, accountId }: SampleSite,
  queueIds: ReadonlyMap<string, QueueId>,
  seed: number,
): Promise<void> {
  const now = new Date();
  const policies = scene.policies(now);
  const hours = new Map(Object.entries(policies).map(([name, policy]) => [name, compileHours(policy)]));
  const visits = scene
    .pastVisits(seed, now, (policy, at) => isOpen(idIn(hours, policy), at))
    .map(({ queue, ...visit }) => ({ ...visit, queueId: idIn(queueIds, queue), ticketId: newId() }));
  await sql`
    INSERT INTO queue_visits (account_id, queue_id, ticket_id, enqueued_at, entered_at, left_at, outcome)
    SELECT ${accountId}, v."queueId", v."ticketId", v."enteredAt", v."enteredAt", v."leftAt", v.outcome
      FROM json_to_recordset(${JSON.stringify(visits)}::text::json)
           AS v ("queueId" uuid, "ticketId" uuid, "enteredAt" timestamptz, "leftAt" timestamptz, outcome text)`;
}

/** Typing events are left out, because they would outnumber all others; events on demand, because an account without them is usual. */
const subscribedTypes: readonly EventType[] = eventTypes.filter(
  (type) => !type.includes('typing') && traitsOf(type).onDemand !== true,
);

/** The sample webhook does not count towards the limit of the account. */
async function makeWebhook(sql: Sql, { accountId, siteId }: SampleSite, url: string, seal: Seal): Promise<WebhookId> {
  const id = newId<WebhookId>();
  const destinationId = await destinationFor(sql, accountId, url);
  const secret = seal(newWebhookSecret(), purposeOfSecret(id));
  await insertWebhook(
    sql,
    { id, accountId, destinationId, registeredBy: 'sample data' },
    {
      url,
      method: 'POST',
      headers: {},
      events: [...subscribedTypes],
      site_ids: [siteId],
      description: 'Sample webhook: delivers to a receiver inside this server that sometimes fails',
      ordering: 'engagement',
      enabled: true,
      filter: null,
      secret,
    },
  );
  return id;
}

function idIn<Name, Id>(ids: ReadonlyMap<Name, Id>, name: Name): Id {
  const id = ids.get(name);
  if (id === undefined) throw new Error(`the scene refers to ${String(name)} before it is created`);
  return id;
}
