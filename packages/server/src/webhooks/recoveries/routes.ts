import Type from 'typebox';
import { accountOf } from '../../identity/access.ts';
import { recordChange } from '../../identity/audit/audit.ts';
import { inTransaction } from '../../platform/database/database.ts';
import { invalid, notFound, Refusal } from '../../platform/errors.ts';
import type { App } from '../../platform/http/http.ts';
import { newId } from '../../platform/ids.ts';
import { instantOf } from '../../platform/instant.ts';
import { cursorQuery, cutAtCursor, nextPage, readCursor } from '../../platform/http/paging.ts';
import { uuid } from '../../platform/schema.ts';
import { coveredWebhook, lockUsableWebhook } from '../coverage.ts';
import type { Recoveries } from './recoveries.ts';
import { recoveryInput, recoveryOutput, type RecoveryId } from './recovery.ts';
import { findRecovery, insertRecovery, listRecoveries } from './store.ts';

/** Concurrent recoveries of a webhook. */
const maxRunning = 10;
const tags = ['Webhook deliveries'];
const access = { operator: 'super_manager', site: 'resource', rule: 'every webhook site' } as const;
const webhookParams = { webhook_id: uuid<'webhook'>() };

interface RecoveryDependencies {
  readonly recoveries: Recoveries;
  readonly clock: { databaseNow(): number };
}

export function recoveryRoutes(app: App, { recoveries, clock }: RecoveryDependencies): void {
  app.post(
    '/webhooks/:webhook_id/recover',
    {
      config: { access, audit: { action: 'webhook.recover', of: Type.Pick(recoveryOutput, ['since', 'until']) } },
      schema: {
        tags,
        summary: 'Recover what the webhook has missed',
        description:
          'Held and exhausted deliveries of the given time become pending again, in the order of the events and in the ' +
          'background. Deliveries that are delivered, discarded or waiting are not recovered, nor those of a site that the ' +
          'webhook no longer covers.',
        params: Type.Object(webhookParams),
        body: recoveryInput,
        response: { 202: recoveryOutput },
      },
      // Not in the handler: its transaction has not committed then.
      onResponse: (_request, _reply, done) => {
        recoveries.wake();
        done();
      },
    },
    async (request, reply) => {
      const since = instantOf(request.body.since, '/since');
      const until = request.body.until === undefined ? null : instantOf(request.body.until, '/until');
      const webhook = await coveredWebhook(request, request.params.webhook_id);
      refuseInvalidRange(since, until, clock.databaseNow());
      const row = await inTransaction(request.sql, async (sql) => {
        await lockUsableWebhook(sql, webhook.id);
        const values = { id: newId<RecoveryId>(), accountId: accountOf(request), webhookId: webhook.id, since, until };
        return insertRecovery(sql, values, maxRunning);
      });
      if (row === null)
        throw new Refusal(
          'too_many',
          `The limit of ${maxRunning} running recoveries per webhook is reached. Wait for one to finish.`,
        );
      recordChange(request, { target: webhook, concerns: { each: webhook.reach_site_ids } });
      reply.code(202).header('location', `/webhooks/${webhook.id}/recoveries/${row.id}`);
      return row;
    },
  );

  app.get(
    '/webhooks/:webhook_id/recoveries',
    {
      config: { access },
      schema: {
        tags,
        summary: 'List the recoveries of a webhook, newest first',
        description: 'What was asked for by POST /webhooks/{webhook_id}/recover, and how far each has come.',
        params: Type.Object(webhookParams),
        querystring: Type.Object(cursorQuery),
        response: { 200: Type.Object({ recoveries: Type.Array(recoveryOutput), next_page: nextPage }) },
      },
    },
    async (request) => {
      const { cursor, per_page: perPage } = request.query;
      const after = readCursor(cursor);
      const { id } = await coveredWebhook(request, request.params.webhook_id);
      const found = await listRecoveries(request.sql, id, { after, limit: perPage + 1 });
      const { rows, next_page } = cutAtCursor(request, perPage, found, (row) => ({ at: row.created_at, id: row.id }));
      return { recoveries: rows, next_page };
    },
  );

  app.get(
    '/webhooks/:webhook_id/recoveries/:recovery_id',
    {
      config: { access },
      schema: {
        tags,
        summary: 'Get a recovery and its progress',
        description: 'How many deliveries it has put back so far, and whether it is finished.',
        params: Type.Object({ ...webhookParams, recovery_id: uuid<'recovery'>() }),
        response: { 200: recoveryOutput },
      },
    },
    async (request) => {
      const { webhook_id, recovery_id: id } = request.params;
      const webhook = await coveredWebhook(request, webhook_id);
      const row = await findRecovery(request.sql, webhook.id, id);
      if (row === null) throw notFound('recovery', id);
      return row;
    },
  );
}

function refuseInvalidRange(since: Date, until: Date | null, now: number): void {
  const violations = [
    ...(since.getTime() > now ? [{ attribute: '/since', detail: 'must not be in the future' }] : []),
    ...(until !== null && until <= since ? [{ attribute: '/until', detail: 'must be later than since' }] : []),
  ];
  if (violations.length > 0) throw invalid(violations);
}
