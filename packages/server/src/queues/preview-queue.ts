import type { FastifyRequest } from 'fastify';
import Type from 'typebox';
import { accountOf, operatorOf } from '../identity/access.ts';
import { notFound, type Violation } from '../platform/errors.ts';
import { newId, type QueueId, type SiteId } from '../platform/ids.ts';
import { body, mediumList, nullable, output, timestamp, uuid } from '../platform/schema.ts';
import { referenceViolations } from './change-queue.ts';
import { completeQueue, queueFields, queueStatus, type QueueGiven, type QueueRow } from './queue.ts';
import { projectQueue, type QueueProjection } from './read-queue.ts';
import { findQueue, queuesAlong } from './store.ts';

const { site_id, ...fields } = queueFields.create;
export const queueDraft = body({
  site_id,
  id: Type.Optional(
    Type.Unsafe<QueueId>({ ...uuid<'queue'>(), description: 'The queue to change; without it, a new queue' }),
  ),
  ...fields,
});

export const queuePreview = output('QueuePreview', {
  status: queueStatus,
  self_status: queueStatus,
  capacity: Type.Integer({ description: 'Effective capacity with the present staff' }),
  staff: Type.Integer({ description: 'Operators who would staff the queue now' }),
  visitors_count: Type.Integer(),
  available_properties: Type.Object({ media: mediumList }),
  within_hours: Type.Boolean(),
  hours_change_at: nullable(Type.Unsafe<Date>({ ...timestamp, description: 'When the queue next opens or closes' })),
  fallback_path: Type.Array(
    Type.Object({
      id: uuid<'queue'>(),
      site_id: uuid<'site'>(),
      name: nullable(Type.String({ description: 'Null if the caller has no role on the site of the queue' })),
      self_status: queueStatus,
    }),
    { description: 'The fallback chain, in order; it ends with the queue itself if the fallbacks would form a cycle' },
  ),
  violations: Type.Array(Type.Object({ attribute: Type.String(), detail: Type.String() }), {
    description: 'The violations for which saving would be refused',
  }),
});

type Preview = Type.Static<typeof queuePreview>;

/** Evaluates a queue as if it were saved, and lists the violations for which saving would be refused. */
export async function previewQueue(
  request: FastifyRequest,
  given: QueueGiven & { readonly site_id: SiteId; readonly id?: QueueId },
  now: number,
): Promise<Preview> {
  const current = given.id === undefined ? null : await findQueue(request.sql, accountOf(request), given.id);
  if (given.id !== undefined && current?.site_id !== given.site_id) throw notFound('queue', given.id);
  const queue = completeQueue(given, current);
  const currentFallbackId = current?.fallback_queue_id ?? null;
  const violations = await referenceViolations(request, request.sql, given.site_id, { queue, currentFallbackId });
  const isRefused = (field: string): boolean => violations.some(({ attribute }) => attribute === `/${field}`);
  const row: QueueRow = {
    ...queue,
    // A reference that the caller may not see is not followed.
    scheduling_policy_id: isRefused('scheduling_policy_id') ? null : queue.scheduling_policy_id,
    fallback_queue_id: isRefused('fallback_queue_id') ? null : queue.fallback_queue_id,
    id: current?.id ?? newId(),
    account_id: accountOf(request),
    site_id: given.site_id,
    version: 0,
    created_at: current?.created_at ?? new Date(now),
    updated_at: new Date(now),
  };
  const along =
    row.fallback_queue_id === null ? [] : await queuesAlong(request.sql, row.account_id, row.fallback_queue_id);
  return show(request, row, along, { violations, projection: await projectQueue(request.sql, row, along, now) });
}

interface Evaluation {
  readonly violations: readonly Violation[];
  readonly projection: QueueProjection;
}

function show(
  request: FastifyRequest,
  row: QueueRow,
  along: readonly QueueRow[],
  { violations, projection }: Evaluation,
): Preview {
  const { output: queue, staff, withinHours, hoursChangeAt, fallbacks } = projection;
  const { roles } = operatorOf(request);
  const back = along.findIndex(({ id }) => id === row.id);
  const path = back === -1 ? along : along.slice(0, back + 1);
  const cycle = [row.id, ...path.map(({ id }) => id)].join(' → ');
  return {
    status: queue.status,
    self_status: queue.self_status,
    capacity: queue.capacity,
    staff,
    visitors_count: queue.visitors_count,
    available_properties: queue.available_properties,
    within_hours: withinHours,
    hours_change_at: hoursChangeAt === null ? null : new Date(hoursChangeAt),
    fallback_path: path.map(({ id, site_id, name }) => ({
      id,
      site_id,
      name: roles.has(site_id) ? name : null,
      self_status: fallbacks.get(id) ?? queue.self_status,
    })),
    violations: [
      ...violations,
      ...(back === -1 ? [] : [{ attribute: '/fallback_queue_id', detail: `would form a cycle: ${cycle}` }]),
    ],
  };
}
