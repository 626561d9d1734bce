import type { FastifyRequest } from 'fastify';
import Type from 'typebox';
import { eventTypes } from '../../events/catalogue.ts';
import { accountOf } from '../../identity/access.ts';
import { recordChange } from '../../identity/audit/audit.ts';
import { notFound } from '../../platform/errors.ts';
import type { App } from '../../platform/http/http.ts';
import { cursorQuery, nextPage, pageAfter, readSequenceCursor } from '../../platform/http/paging.ts';
import { oneOf, uuid } from '../../platform/schema.ts';
import { timeQuery, timeRange } from '../../platform/time-range.ts';
import { coveredWebhook, type CoveredWebhook } from '../coverage.ts';
import { deliveryDetails, deliveryOutput, deliveryStates, type DeliveryId } from './delivery.ts';
import { replayDelivery } from './replay.ts';
import { findDelivery, findDetails, happenedOn, listDeliveries } from './store.ts';

const tags = ['Webhook deliveries'];
const access = { operator: 'super_manager', site: 'resource', rule: 'every webhook site' } as const;
const deliveryParams = Type.Object({ delivery_id: uuid<'delivery'>() });

export function deliveryRoutes(app: App): void {
  listRoute(app);

  app.get(
    '/deliveries/:delivery_id',
    {
      config: { access },
      schema: {
        tags,
        summary: 'Get a delivery with its event and its attempts',
        description: 'Each attempt with its time, duration, status and the first 4 KiB of the answer.',
        params: deliveryParams,
        response: { 200: deliveryDetails },
      },
    },
    async (request) => {
      const { delivery_id: id } = request.params;
      await coveredDelivery(request, id);
      const row = await findDetails(request.sql, accountOf(request), id);
      if (row === null) throw notFound('delivery', id);
      const { payload, attempts, ...delivery } = row;
      return {
        ...delivery,
        event: { id: row.event_id, type: row.event_type, payload },
        attempts: attempts.map((attempt) => ({ ...attempt, at: new Date(attempt.at) })),
      };
    },
  );

  app.post(
    '/deliveries/:delivery_id/replay',
    {
      config: {
        access,
        audit: { action: 'delivery.replay', of: Type.Pick(deliveryOutput, ['webhook_id', 'event_id', 'event_type']) },
      },
      schema: {
        tags,
        summary: 'Send a delivery again, now and out of order',
        description:
          'A finished or held delivery becomes pending and starts with the first attempt; a delivery that waits for its next ' +
          'attempt gets it now.',
        params: deliveryParams,
        body: Type.Object({}, { additionalProperties: false }),
        response: { 202: deliveryOutput },
      },
    },
    async (request, reply) => {
      const { delivery_id: id } = request.params;
      const { id: webhookId, reach_site_ids: each } = await coveredDelivery(request, id);
      const row = await replayDelivery(request.sql, { accountId: accountOf(request), id, webhookId });
      recordChange(request, { concerns: { each } });
      reply.code(202);
      return row;
    },
  );
}

function listRoute(app: App): void {
  app.get(
    '/webhooks/:webhook_id/deliveries',
    {
      config: { access },
      schema: {
        tags,
        summary: 'List the deliveries of a webhook, newest event first',
        description:
          'Each page scans a limited part of the log: with filters a page may have fewer deliveries than `per_page`, or none, ' +
          'although there is a next page.',
        params: Type.Object({ webhook_id: uuid<'webhook'>() }),
        querystring: Type.Object({
          state: Type.Optional(oneOf(deliveryStates)),
          event_type: Type.Optional(oneOf(eventTypes)),
          ...timeQuery,
          matching_id: Type.Optional(
            Type.Unsafe<string>({ ...uuid(), description: 'Id of the delivery, of its event or of its engagement' }),
          ),
          ...cursorQuery,
        }),
        response: { 200: Type.Object({ deliveries: Type.Array(deliveryOutput), next_page: nextPage }) },
      },
    },
    async (request) => {
      const { state = null, event_type: eventType = null, cursor, per_page: perPage } = request.query;
      const matching = request.query.matching_id ?? null;
      const after = readSequenceCursor(cursor);
      const { readableSiteIds: siteIds, ...webhook } = await coveredWebhook(request, request.params.webhook_id);
      const filter = { state, eventType, matching, ...timeRange(request.query), siteIds };
      const found = await listDeliveries(request.sql, { webhook, ...filter, after, limit: perPage + 1 });
      const deliveries = found.rows.slice(0, perPage);
      const last = found.rows.length > perPage ? deliveries.at(-1) : undefined;
      const next = last === undefined ? found.next : { seq: last.event_seq, id: last.id };
      return { deliveries, next_page: next === null ? null : pageAfter(request, next) };
    },
  );
}

/** A registrar who has lost the role on a site can neither read nor replay the events of that site. */
async function coveredDelivery(request: FastifyRequest, id: DeliveryId): Promise<CoveredWebhook> {
  const row = await findDelivery(request.sql, accountOf(request), id);
  if (row === null) throw notFound('delivery', id);
  const { readableSiteIds: siteIds, ...webhook } = await coveredWebhook(request, row.webhook_id, {
    noun: 'delivery',
    id,
  });
  const isReadable =
    siteIds === null || (await happenedOn(request.sql, { accountId: accountOf(request), id, siteIds }));
  if (!isReadable) throw notFound('delivery', id);
  return webhook;
}
