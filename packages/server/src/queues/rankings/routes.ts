import { lastRank } from '@usher/contract/limits';
import { lockAccount } from '../../identity/lock-account.ts';
import type { FastifyRequest } from 'fastify';
import Type from 'typebox';
import { accountOf, permit } from '../../identity/access.ts';
import { recordChange } from '../../identity/audit/audit.ts';
import { inTransaction } from '../../platform/database.ts';
import { invalid, notFound } from '../../platform/errors.ts';
import type { App } from '../../platform/http.ts';
import type { QueueId } from '../../platform/ids.ts';
import { body, list, nullable, output, uuid } from '../../platform/schema.ts';
import { permittedQueue, queueParams } from '../permitted-queue.ts';
import { findQueue } from '../store.ts';
import { accountOperators, assignedOperators, changeRankings, listRankings, type Ranking } from './store.ts';

const tags = ['Queues'];
const rank = Type.Integer({
  minimum: 1,
  maximum: lastRank,
  description: `Smaller is considered first; ${lastRank} is as good as none`,
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
      schema: { tags, summary: 'Ranks of operators in a queue', params: queueParams, response: { 200: rankings } },
    },
    async (request) => {
      const queue = await permittedQueue(request, request.params.queue_id);
      return { operators: await listRankings(request.sql, queue.id) };
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
        summary: 'Give and take ranks, all or none of them; null takes the operator out',
        description:
          'A rank is given to operators who are assigned to the site of the queue. Those who no longer are can be taken out with ' +
          'null, and may be sent back with the rank they have.',
        params: queueParams,
        body: change,
        response: { 200: rankings },
      },
    },
    async (request) => ({ operators: await applyRanks(request, request.params.queue_id, request.body.operators) }),
  );
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
    const rankOf = new Map(ranked.map((entry) => [entry.id, entry.rank]));
    const assigned = await assignedOperators(sql, queue.site_id, ids);
    const known = await accountOperators(sql, queue.account_id, ids);
    const violations = changes.flatMap((entry, index) => {
      const attribute = `/operators/${index}/id`;
      // The collection may have operators who are no longer of the site: they can be taken out, or sent back as they are.
      const isKept = entry.rank === null ? known.has(entry.id) : rankOf.get(entry.id) === entry.rank;
      if (!assigned.has(entry.id) && !isKept)
        return [{ attribute, detail: 'is not an operator assigned to the site of the queue' }];
      const first = ids.indexOf(entry.id);
      return first === index ? [] : [{ attribute, detail: 'is named twice' }];
    });
    if (violations.length > 0) throw invalid(violations);
    recordChange(request, { before: { operators: ranked }, target: queue, concerns: { any: [queue.site_id] } });
    await changeRankings(sql, queue, changes);
    return listRankings(sql, id);
  });
}
