import type { FastifyReply, FastifyRequest } from 'fastify';
import Type from 'typebox';
import { accountOf } from '../identity/access.ts';
import type { Audited } from '../identity/audit/audit.ts';
import { etag } from '../platform/http/etag.ts';
import { rendered, type App } from '../platform/http/http.ts';
import type { SiteId } from '../platform/ids.ts';
import { cutPage, nextPage, optionalPageQuery, pageWindow } from '../platform/http/paging.ts';
import { list, uuid } from '../platform/schema.ts';
import { changeQueue, createQueue, removeQueue, type ChangedQueue } from './change-queue.ts';
import { permittedQueue, queueParams } from './permitted-queue.ts';
import { queueFields, queueInput, queueOutput, queueUpdate, type QueueOutput } from './queue.ts';
import { previewQueue, queueDraft, queuePreview } from './preview-queue.ts';
import { readQueue } from './read-queue.ts';
import type { SiteQueues } from './site-queues.ts';

const tags = ['Queues'];

const audited = { of: queueOutput, ...queueFields.audit } satisfies Partial<Audited>;

export function queueRoutes(app: App, siteQueues: SiteQueues): void {
  listRoute(app, siteQueues);

  app.post(
    '/queues',
    {
      config: {
        access: { operator: 'super_manager', site: 'body.site_id' },
        changesCaches: true,
        audit: { action: 'queue.create', ...audited },
      },
      schema: {
        tags,
        summary: 'Create a queue; the response says closed, the next read its evaluated status',
        description:
          'An empty routing_policy takes every visitor. Without a scheduling policy the queue is always within its hours.',
        body: queueInput,
        response: { 201: queueOutput },
      },
    },
    async (request, reply) => {
      const created = await createQueue(request, request.body.site_id, request.body, siteQueues.now());
      reply.code(201).header('location', `/queues/${created.row.id}`);
      return tagged(reply, created);
    },
  );

  app.post(
    '/queues/preview',
    {
      config: { access: { operator: 'super_manager', site: 'body.site_id' }, readOnly: true },
      schema: {
        tags,
        summary: 'Preview a queue without saving it',
        description: 'Shows the capacity, the staff and the status that the queue would have now with these settings.',
        body: queueDraft,
        response: { 200: queuePreview },
      },
    },
    async (request) => previewQueue(request, request.body, siteQueues.now()),
  );

  queueRoutesById(app, siteQueues);
}

function queueRoutesById(app: App, siteQueues: SiteQueues): void {
  app.get(
    '/queues/:queue_id',
    {
      config: { access: { operator: 'manager', site: 'resource' } },
      schema: {
        tags,
        summary: 'One queue',
        description:
          'Its settings, its status now, how many visitors wait, and their recent average wait. The ETag is its version, for If-Match.',
        params: queueParams,
        response: { 200: queueOutput },
      },
    },
    async (request, reply) => {
      const row = await permittedQueue(request, request.params.queue_id);
      return tagged(reply, { row, output: await readQueue(request.sql, row, siteQueues.now()) });
    },
  );

  app.put(
    '/queues/:queue_id',
    {
      config: {
        access: { operator: 'super_manager', site: 'resource' },
        changesCaches: true,
        audit: { action: 'queue.update', ...audited },
      },
      schema: {
        tags,
        summary: 'Update a queue; optional fields that are left out keep their value',
        description:
          'Applies at once. Visitors who wait already stay, also when the capacity is lowered. A fallback that leads back to the queue is 409 fallback_cycle.',
        params: queueParams,
        body: queueUpdate,
        response: { 200: queueOutput },
      },
    },
    async (request, reply) =>
      tagged(reply, await changeQueue(request, request.params.queue_id, request.body, siteQueues.now())),
  );

  app.delete(
    '/queues/:queue_id',
    {
      config: {
        access: { operator: 'super_manager', site: 'resource' },
        changesCaches: true,
        audit: { action: 'queue.delete', ...audited },
      },
      schema: {
        tags,
        summary: 'Delete a queue that is empty and not in use',
        description:
          'A queue with visitors in it is 409 queue_not_empty; one that a channel or another queue refers to is 409 queue_in_use.',
        params: queueParams,
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      await removeQueue(request, request.params.queue_id);
      reply.code(204);
    },
  );
}

function listRoute(app: App, siteQueues: SiteQueues): void {
  app.get(
    '/queues',
    {
      config: { access: { operator: 'operator', visitor: true, site: 'query.site_ids' } },
      schema: {
        tags,
        summary: 'Queues of the sites, with their current status',
        description:
          'Visitors may list the queues of the site that they are on. status takes fallback queues into account, self_status does not.',
        querystring: Type.Object({ site_ids: list(uuid<'site'>(), { minItems: 1 }), ...optionalPageQuery }),
        response: { 200: Type.Object({ queues: Type.Array(queueOutput), next_page: nextPage }) },
      },
    },
    async (request, reply) => {
      const { site_ids: given, page, per_page: perPage } = request.query;
      const siteIds = [...new Set(given)];
      if (perPage !== undefined || page > 1) return pageOfQueues(request, siteQueues, siteIds);
      reply.type(rendered);
      return siteQueues.render(accountOf(request), siteIds) as never;
    },
  );
}

async function pageOfQueues(
  request: FastifyRequest<{ Querystring: { page: number; per_page?: number } }>,
  siteQueues: SiteQueues,
  siteIds: readonly SiteId[],
): Promise<{ queues: QueueOutput[]; next_page: string | null }> {
  const sites = await Promise.all(siteIds.map(async (id) => siteQueues.list(accountOf(request), id)));
  const { limit, offset } = pageWindow(request.query);
  const window = sites.flat().slice(offset, limit === null ? undefined : offset + limit);
  const { rows, next_page } = cutPage(request, request.query, window);
  return { queues: rows, next_page };
}

function tagged(reply: FastifyReply, { row, output }: ChangedQueue): QueueOutput {
  reply.header('etag', etag(row.version));
  return output;
}
