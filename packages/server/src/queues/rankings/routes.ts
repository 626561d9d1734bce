import { lastRank } from '@usher/contract/limits';
import { lockAccount } from '../../identity/lock-account.ts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import Type from 'typebox';
import { accountOf, permit } from '../../identity/access.ts';
import { recordChange } from '../../identity/audit/audit.ts';
import { inTransaction } from '../../platform/database/database.ts';
import { invalid, notFound } from '../../platform/errors.ts';
import { contentTag, requireTag } from '../../platform/http/etag.ts';
import type { App } from '../../platform/http/http.ts';
import type { QueueId } from '../../platform/ids.ts';
import { body, list, nullable, output, uuid } from '../../platform/schema.ts';
import { permittedQueue, queueParams } from '../permitted-queue.ts';
import { findQueue } from '../store.ts';
import { accountOperators, assignedOperators, changeRankings, listRankings, type Ranking } from './store.ts';

const tags = ['Queues'];
const rank = Type.Integer({
  minimum: 1,
  maximum: lastRank,
  description: `A lower number is preferred; ${lastRank} counts as unranked`,
});
const rankings = Type.Object({ operators: Type.Array(output('Ranking', { id: uuid<'operator'>(), rank })) });
const change = body({
  operators: list(body({ id: uuid<'operator'>(), rank: nullable(rank) })),
});

export function rankingRoutes(app: App): void {
  app.get(
    '/queues/:queue_id/rankings',
    {
      config: { access: { operator: 'super_manager', site: 'resource' } },
      schema: {
        tags,
        summary: 'Ranks of operators in a queue',
        description:
          'Operators who were given a rank, the preferred ones first. Used if the queue has operator_ranking_enabled. The ETag is for If-Match.',
        params: queueParams,
        response: { 200: rankings },
      },
    },
    async (request, reply) => {
      const queue = await permittedQueue(request, request.params.queue_id);
      return tagged(reply, await listRankings(request.sql, queue.id));
    },
  );

  app.patch(
    '/queues/:queue_id/rankings',
    {
      config: {
        access: { operator: 'super_manager', site: 'resource' },
        audit: { action: 'queue.rank', of: rankings },
      },
      schema: {
        tags,
        summary: 'Change ranks of operators in a queue; null removes an operator',
        description:
          'Either all changes are made or none. The operators must be assigned to the site of the queue. An operator who no longer is ' +
          'may be removed with null, or sent with their present rank.',
        params: queueParams,
        body: change,
        response: { 200: rankings },
      },
    },
    async (request, reply) => tagged(reply, await applyRanks(request, request.params.queue_id, request.body.operators)),
  );
}

/** The ranks of a queue have no version of their own: their content is their entity tag. */
function tagged(reply: FastifyReply, operators: Ranking[]): Type.Static<typeof rankings> {
  reply.header('etag', contentTag(operators));
  return { operators };
}

async function applyRanks(
  request: FastifyRequest,
  id: QueueId,
  changes: Type.Static<typeof change>['operators'],
): Promise<Ranking[]> {
  return inTransaction(request.sql, async (sql) => {
    await lockAccount(sql, accountOf(request));
    const queue = await findQueue(sql, accountOf(request), id);
    if (queue === null) throw notFound('queue', id);
    permit(request, queue, 'queue');
    const ids = changes.map((entry) => entry.id);
    const ranked = await listRankings(sql, id);
    requireTag(request, contentTag(ranked));
    const rankOf = new Map(ranked.map((entry) => [entry.id, entry.rank]));
    const assigned = await assignedOperators(sql, queue.site_id, ids);
    const known = await accountOperators(sql, queue.account_id, ids);
    const violations = changes.flatMap((entry, index) => {
      const attribute = `/operators/${index}/id`;
      // Ranked operators may have left the site since: they can be removed, or sent back unchanged.
      const isAllowed = entry.rank === null ? known.has(entry.id) : rankOf.get(entry.id) === entry.rank;
      if (!assigned.has(entry.id) && !isAllowed)
        return [{ attribute, detail: 'is not an operator assigned to the site of the queue' }];
      const first = ids.indexOf(entry.id);
      return first === index ? [] : [{ attribute, detail: 'is listed twice' }];
    });
    if (violations.length > 0) throw invalid(violations);
    recordChange(request, { before: { operators: ranked }, target: queue, concerns: { any: [queue.site_id] } });
    await changeRankings(sql, queue, changes);
    return listRankings(sql, id);
  });
}
