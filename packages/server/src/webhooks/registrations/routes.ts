import type { FastifyReply, FastifyRequest } from 'fastify';
import Type from 'typebox';
import { eventTypes } from '../../events/catalogue.ts';
import { awaitEarlierWriters } from '../../events/earlier-writers.ts';
import type { Sealer } from '../../identity/sealer.ts';
import type { AddressGuard } from '../../platform/outbound/address-guard.ts';
import { etag } from '../../platform/http/etag.ts';
import type { App } from '../../platform/http/http.ts';
import { cutPage, nextPage, pageQuery, pageWindow } from '../../platform/http/paging.ts';
import { RateLimit } from '../../platform/limits/rate-limit.ts';
import type { UsesOfAll } from '../../platform/limits/shared-uses.ts';
import { body, oneOf, output, uuid } from '../../platform/schema.ts';
import { changeWebhook, createWebhook, refuseAddress, refuseNewAddress, removeWebhook } from './change-webhook.ts';
import { permittedWebhook, seenWebhooks } from './reach.ts';
import { rotateSecret } from './rotate-secret.ts';
import { sendTest } from './send-test.ts';
import { webhookAudit } from './audit.ts';
import {
  newWebhookOutput,
  rotationInput,
  rotationOutput,
  shownWebhook,
  webhookInput,
  webhookOutput,
  webhookUpdate,
  type WebhookRow,
} from './webhook.ts';

const tags = ['Webhooks'];
const webhookParams = Type.Object({ webhook_id: uuid<'webhook'>() });
const access = { operator: 'super_manager', site: 'resource', rule: 'every webhook site' } as const;
/** The registrar may always see and delete the webhook. */
const registrarAccess = { ...access, rule: 'every webhook site, or registrar' } as const;

const sentTest = output('SentTest', {
  delivery_id: Type.String({ format: 'uuid' }),
  event_id: Type.String({ format: 'uuid' }),
});

/** Limit of tests per webhook and minute. */
const testsPerMinute = 60;

interface RegistrationDependencies {
  readonly guard: AddressGuard;
  readonly sealer: Sealer;
  readonly sharedUses: UsesOfAll;
}

export function webhookRoutes(app: App, deps: RegistrationDependencies): void {
  registrationRoutes(app, deps);
  singleRoutes(app, deps);
  actionRoutes(app, deps);
}

function registrationRoutes(app: App, { guard, sealer }: RegistrationDependencies): void {
  app.get(
    '/webhooks',
    {
      config: { access: { operator: 'super_manager', site: 'anywhere', rule: 'any site, or registrar' } },
      schema: {
        tags,
        summary: 'List the webhooks of sites that the caller is super_manager of, and those that the caller registered',
        description: 'Without their secrets. Webhooks that are attached to tickets and requests are not listed.',
        querystring: Type.Object(pageQuery),
        response: { 200: Type.Object({ webhooks: Type.Array(webhookOutput), next_page: nextPage }) },
      },
    },
    async (request) => {
      const found = await seenWebhooks(request, pageWindow(request.query));
      const { rows, next_page } = cutPage(request, request.query, found);
      return { webhooks: rows.map(shownWebhook), next_page };
    },
  );

  app.post(
    '/webhooks',
    {
      config: {
        access: { operator: 'super_manager', site: 'anywhere' },
        changesCaches: true,
        secretBody: true,
        audit: { action: 'webhook.create', ...webhookAudit },
      },
      schema: {
        tags,
        summary: 'Register a webhook; its secret is shown only once',
        description:
          'Needs the role super_manager on any site. Without site_ids the webhook covers every site that its registrar is ' +
          'super_manager of, now and as that changes (with a token for some sites: these sites); covered_site_ids lists them. The ' +
          'webhook stops covering a site when its registrar is no longer super_manager there. An account has at most ten webhooks; ' +
          'the one of the sample data does not count. A secret is generated unless one is given.',
        body: webhookInput,
        response: { 201: newWebhookOutput },
      },
      preHandler: async (request) => refuseAddress(guard, request.body.url),
      onSend: answerAfterEarlierWriters,
    },
    async (request, reply) => {
      const { row, secret } = await createWebhook(request, sealer, request.body);
      reply.code(201).header('location', `/webhooks/${row.id}`);
      return { ...tagged(reply, row), secret };
    },
  );
}

function singleRoutes(app: App, { guard, sealer }: RegistrationDependencies): void {
  app.get(
    '/webhooks/:webhook_id',
    {
      config: { access: registrarAccess },
      schema: {
        tags,
        summary: 'Get a webhook',
        description: 'Where it sends which events, which sites it covers now, and since when it fails, if it does.',
        params: webhookParams,
        response: { 200: webhookOutput },
      },
    },
    async (request, reply) => tagged(reply, await permittedWebhook(request, request.params.webhook_id, 'see')),
  );

  app.put(
    '/webhooks/:webhook_id',
    {
      config: { access, changesCaches: true, secretBody: true, audit: { action: 'webhook.update', ...webhookAudit } },
      schema: {
        tags,
        summary: 'Change a webhook; optional fields left out keep their value',
        description:
          'Waiting deliveries go to the new URL. While the webhook is disabled, deliveries are held and can be recovered later. A ' +
          'webhook that was of the kind apns has no secret yet: rotate_secret creates one. A webhook that covers no site any more, ' +
          'because its registrar has lost the role or was disabled, is taken over by the caller: see registered_by.',
        params: webhookParams,
        body: webhookUpdate,
        response: { 200: webhookOutput },
      },
      preHandler: async (request) => refuseNewAddress(request, guard, request.params.webhook_id, request.body.url),
      onSend: answerAfterEarlierWriters,
    },
    async (request, reply) =>
      tagged(reply, await changeWebhook(request, sealer, request.params.webhook_id, request.body)),
  );

  app.delete(
    '/webhooks/:webhook_id',
    {
      config: { access: registrarAccess, changesCaches: true, audit: { action: 'webhook.delete', ...webhookAudit } },
      schema: {
        tags,
        summary: 'Delete a webhook; waiting deliveries are discarded',
        description: 'Nothing more is sent to it. To stop a webhook for some time, set enabled to false instead.',
        params: webhookParams,
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      await removeWebhook(request, request.params.webhook_id);
      reply.code(204);
    },
  );
}

function actionRoutes(app: App, { sealer, sharedUses }: RegistrationDependencies): void {
  app.post(
    '/webhooks/:webhook_id/rotate_secret',
    {
      config: {
        access,
        changesCaches: true,
        audit: { action: 'webhook.rotate_secret', of: Type.Pick(rotationOutput, ['old_secret_until']) },
      },
      schema: {
        tags,
        summary: 'Rotate the secret of a webhook; for a day requests are signed with the former secret too',
        description:
          'Only the last two secrets are used: a second rotation within the day ends the first secret at once.',
        params: webhookParams,
        body: rotationInput,
        response: { 200: rotationOutput },
      },
    },
    async (request) => rotateSecret(request, sealer, request.params.webhook_id, request.body.secret),
  );

  const tests = new RateLimit('tests of webhooks', testsPerMinute, sharedUses);
  app.post(
    '/webhooks/:webhook_id/test',
    {
      config: { access, audit: { action: 'webhook.test', of: sentTest } },
      schema: {
        tags,
        summary: 'Send a sample event to this webhook only',
        description:
          'Delivered like any event, with signature and retries, and shown in its log. The ids in it are made up.',
        params: webhookParams,
        body: body({ event_type: oneOf(eventTypes) }),
        response: {
          202: sentTest,
        },
      },
    },
    async (request, reply) => {
      const sent = await sendTest(request, tests, request.params.webhook_id, request.body.event_type);
      reply.code(202);
      return sent;
    },
  );
}

/** D8.12: every event that commits after the answer is sent to the webhook as it is now. The change is committed. */
async function answerAfterEarlierWriters<T>(request: FastifyRequest, reply: FastifyReply, payload: T): Promise<T> {
  if (reply.statusCode < 300) await awaitEarlierWriters(request.sql);
  return payload;
}

function tagged(reply: FastifyReply, row: WebhookRow): WebhookRow {
  reply.header('etag', etag(row.version));
  return shownWebhook(row);
}
