import type { FastifyRequest } from 'fastify';
import Type from 'typebox';
import { accountOf, permit } from '../identity/access.ts';
import { notFound } from '../platform/errors.ts';
import type { QueueId } from '../platform/ids.ts';
import { uuid } from '../platform/schema.ts';
import type { QueueRow } from './queue.ts';
import { findQueue } from './store.ts';

export const queueParams = Type.Object({ queue_id: uuid<'queue'>() });

export async function permittedQueue(request: FastifyRequest, id: QueueId): Promise<QueueRow> {
  const queue = await findQueue(request.sql, accountOf(request), id);
  if (queue === null) throw notFound('queue', id);
  permit(request, queue, 'queue');
  return queue;
}
