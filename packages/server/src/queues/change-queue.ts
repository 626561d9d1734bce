import { lockAccount } from '../identity/lock-account.ts';
import type { FastifyRequest } from 'fastify';
import { accountOf, operatorOf, permit } from '../identity/access.ts';
import { recordChange } from '../identity/audit/audit.ts';
import { lockSite } from '../identity/sites/store.ts';
import { teamsOnSite } from '../identity/teams/store.ts';
import { inTransaction, violatedConstraint, type Sql } from '../platform/database/database.ts';
import { invalid, notFound, Refusal, type Violation } from '../platform/errors.ts';
import { ifMatch, preconditionFailed } from '../platform/http/etag.ts';
import { newId, type QueueId, type SiteId } from '../platform/ids.ts';
import { findPolicy } from '../schedules/store.ts';
import { completeQueue, type QueueGiven, type QueueOutput, type QueueRow, type StoredQueue } from './queue.ts';
import { readQueue } from './read-queue.ts';
import {
  countVisitors,
  deleteQueue,
  fallbackPath,
  findQueue,
  insertQueue,
  updateQueue,
  usersOfQueue,
} from './store.ts';

export interface ChangedQueue {
  readonly row: QueueRow;
  readonly output: QueueOutput;
}

/** D1.5: the response always says `closed`; the next read shows the evaluated status. */
export async function createQueue(
  request: FastifyRequest,
  siteId: SiteId,
  given: QueueGiven,
  now: number,
): Promise<ChangedQueue> {
  const accountId = accountOf(request);
  return write(request.sql, async (sql) => {
    await lockAccount(sql, accountId);
    await lockSite(sql, siteId);
    const queue = completeQueue(given, null);
    await checkReferences(request, sql, siteId, { queue, currentFallbackId: null });
    const row = await insertQueue(sql, { id: newId(), accountId, siteId }, queue);
    recordChange(request, { after: row });
    const closed = { status: 'closed', self_status: 'closed' } as const;
    return {
      row,
      output: { ...(await readQueue(sql, row, now)), ...closed, available_properties: { media: [] } },
    };
  });
}

export async function changeQueue(
  request: FastifyRequest,
  id: QueueId,
  given: QueueGiven & { site_id?: SiteId },
  now: number,
): Promise<ChangedQueue> {
  const versions = ifMatch(request);
  return write(request.sql, async (sql) => {
    const current = await lockedQueue(request, sql, id);
    if (given.site_id !== undefined && given.site_id !== current.site_id) {
      throw invalid([{ attribute: '/site_id', detail: 'cannot be changed' }]);
    }
    if (versions !== null && !versions.includes(current.version)) throw preconditionFailed(current.version);
    const queue = completeQueue(given, current);
    await checkReferences(request, sql, current.site_id, { queue, currentFallbackId: current.fallback_queue_id });
    await refuseCycle(sql, id, queue.fallback_queue_id);
    const row = await updateQueue(sql, id, queue);
    recordChange(request, { before: current, after: row });
    return { row, output: await readQueue(sql, row, now) };
  });
}

/** D7.5: deletes a queue that is empty and not in use. */
export async function removeQueue(request: FastifyRequest, id: QueueId): Promise<void> {
  const versions = ifMatch(request);
  await write(request.sql, async (sql) => {
    const current = await lockedQueue(request, sql, id);
    if (versions !== null && !versions.includes(current.version)) throw preconditionFailed(current.version);
    const users = await usersOfQueue(sql, id);
    if (users.length > 0) {
      throw new Refusal('queue_in_use', `The queue ${users.join(', ')}. Remove these references first.`, {
        details: users.map((detail) => ({ attribute: '', detail })),
      });
    }
    const [count] = await countVisitors(sql, [id]);
    if (count !== undefined && count.visitors > 0) throw notEmpty(count.visitors);
    await deleteQueue(sql, id);
    recordChange(request, { before: current });
  });
}

function notEmpty(visitors: number): Refusal {
  const who = visitors === 1 ? 'A visitor is' : `${visitors} visitors are`;
  return new Refusal('queue_not_empty', `${who} in the queue. Wait until the queue is empty.`);
}

async function lockedQueue(request: FastifyRequest, sql: Sql, id: QueueId): Promise<QueueRow> {
  const accountId = accountOf(request);
  await lockAccount(sql, accountId);
  const queue = await findQueue(sql, accountId, id);
  if (queue === null) throw notFound('queue', id);
  permit(request, queue, 'queue');
  return queue;
}

interface QueueReferences {
  readonly queue: StoredQueue;
  /** An unchanged fallback is not checked: the caller may have no role on its site. */
  readonly currentFallbackId: QueueId | null;
}

async function checkReferences(
  request: FastifyRequest,
  sql: Sql,
  siteId: SiteId,
  references: QueueReferences,
): Promise<void> {
  const violations = await referenceViolations(request, sql, siteId, references);
  if (violations.length > 0) throw invalid(violations);
}

/** Teams and policy must be on the queue's site; the fallback must be on a site where the caller is super_manager (D7.5). */
export async function referenceViolations(
  request: FastifyRequest,
  sql: Sql,
  siteId: SiteId,
  { queue, currentFallbackId }: QueueReferences,
): Promise<Violation[]> {
  const violations: Violation[] = [];
  const { team_ids: teams = [] } = queue.routing_policy;
  const known = await teamsOnSite(sql, siteId, teams);
  for (const [index, team] of teams.entries()) {
    if (!known.has(team))
      violations.push({ attribute: `/routing_policy/team_ids/${index}`, detail: 'is not a team of the site' });
  }
  if (queue.scheduling_policy_id !== null) {
    const policy = await findPolicy(sql, accountOf(request), queue.scheduling_policy_id);
    if (policy?.site_id !== siteId) {
      violations.push({ attribute: '/scheduling_policy_id', detail: 'is not a scheduling policy of the site' });
    }
  }
  if (queue.fallback_queue_id !== null && queue.fallback_queue_id !== currentFallbackId) {
    const fallback = await findQueue(sql, accountOf(request), queue.fallback_queue_id);
    if (fallback === null || operatorOf(request).roles.get(fallback.site_id) !== 'super_manager') {
      violations.push({
        attribute: '/fallback_queue_id',
        detail: 'is not a queue of a site where the caller is super_manager',
      });
    }
  }
  return violations;
}

async function refuseCycle(sql: Sql, id: QueueId, fallback: QueueId | null): Promise<void> {
  if (fallback === null) return;
  const path = await fallbackPath(sql, fallback);
  const back = path.indexOf(id);
  if (back === -1) return;
  const cycle = [id, ...path.slice(0, back + 1)];
  throw new Refusal('fallback_cycle', `The fallback queues would form a cycle: ${cycle.join(' → ')}.`, {
    details: cycle.map((queue) => ({ attribute: '/fallback_queue_id', detail: queue })),
  });
}

/** Translates the foreign keys that catch what the account's lock does not: a team or a policy that is deleted concurrently. */
async function write<T>(pool: Sql, run: (sql: Sql) => Promise<T>): Promise<T> {
  try {
    return await inTransaction(pool, run);
  } catch (error) {
    switch (violatedConstraint(error)) {
      case 'queue_teams_team_id_fkey':
        throw invalid([{ attribute: '/routing_policy/team_ids', detail: 'contains a team that was just deleted' }]);
      case 'queues_scheduling_policy':
        throw invalid([{ attribute: '/scheduling_policy_id', detail: 'is not a scheduling policy of the site' }]);
      default:
        throw error;
    }
  }
}
