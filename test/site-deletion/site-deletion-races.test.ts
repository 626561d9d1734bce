import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FileDisk } from '../../packages/server/src/engagements/files/disk.ts';
import { connect, type Sql } from '../../packages/server/src/platform/database/database.ts';
import type { SiteId } from '../../packages/server/src/platform/ids.ts';
import { createLog } from '../../packages/server/src/platform/log.ts';
import { removeRemains } from '../../packages/server/src/site-deletion/remove-remains.ts';
import { newNumber, startCarrier } from '../support/services/carrier.ts';
import { forThisFile } from '../support/fixture.ts';
import { call, startTestServer, until, type Answer, type Json } from '../support/server.ts';
import { makeWebhook, webhookFields } from '../support/receivers/webhooks.ts';
import {
  makeAccount,
  makeAvailableOperator,
  makeApplicationToken,
  makeOperator,
  makePolicy,
  makeProvider,
  makeQueue,
  makeSite,
  makeTeam,
  makeVisitor,
  policyFields,
  providerFields,
  queueFields,
  type TestAccount,
} from '../support/world.ts';

/**
 * Whatever a request adds to a site while the site is deleted: the request is refused, or what it added is deleted with the site, and
 * no answer is a 5xx.
 */
const carrier = await forThisFile(startCarrier());
const server = await forThisFile(startTestServer({ twilio: carrier.settings }));
const { sql } = server.database;
/** For what must happen while the connections of the server wait for each other. */
const observer = connect(server.database.address, { max: 2 });
await forThisFile({ close: async () => observer.end() });
const account = await makeAccount(server);

interface Addition {
  readonly request: string;
  readonly token?: string;
  readonly body?: Json;
}

type Add = (site: TestAccount) => Promise<Addition> | Addition;

/** The requests that add a row of a site to the table, or change one so that it names the site. */
const additions: Readonly<Record<string, readonly Add[]>> = {
  application_tokens: [
    ({ siteId }) => ({ request: `POST /sites/${siteId}/application_tokens`, body: { kind: 'publishable' } }),
  ],
  digital_channels: [
    async (site) => {
      const queue_id = await makeQueue(server, site);
      const body = { site_id: site.siteId, kind: 'sms', address: newNumber(), queue_id };
      return { request: 'POST /digital_channels', body };
    },
  ],
  engagement_requests: [
    async (site) => {
      const operator = await makeAvailableOperator(server, site);
      const { token } = await makeVisitor(server, site);
      const body = { site_id: site.siteId, media: 'text', operator_id: operator.id };
      return { request: 'POST /engagement_requests', token, body };
    },
    async (site) => {
      const { token } = await makeAvailableOperator(server, site);
      const body = { media: 'text', new_site_visitor: { site_id: site.siteId, name: 'New' } };
      return { request: 'POST /engagement_requests', token, body };
    },
  ],
  operator_assignments: [
    ({ siteId }) => ({
      request: 'POST /operators',
      body: { name: 'New', email: `${siteId}@test`, assignments: [{ site_id: siteId, role: 'operator' }] },
    }),
    async (site) => {
      const { id } = await makeOperator(server, account, [{ site_id: account.siteId, role: 'operator' }]);
      const assignments = [account.siteId, site.siteId].map((site_id) => ({ site_id, role: 'operator' }));
      return { request: `PATCH /operators/${id}`, body: { assignments } };
    },
  ],
  operator_teams: [
    async (site) => {
      const team_ids = [await makeTeam(server, site, site.siteId)];
      const { id } = await makeOperator(server, site, [{ site_id: site.siteId, role: 'operator' }]);
      const body = { assignments: [{ site_id: site.siteId, role: 'operator', team_ids }] };
      return { request: `PATCH /operators/${id}`, body };
    },
  ],
  phone_channels: [
    async (site) => {
      const queue_id = await makeQueue(server, site);
      return { request: 'POST /phone_channels', body: { site_id: site.siteId, number: newNumber(), queue_id } };
    },
  ],
  queue_tickets: [
    async (site) => {
      const queue_id = await makeQueue(server, site, { when_unstaffed: 'accept' });
      const { token } = await makeVisitor(server, site);
      return { request: 'POST /queue_tickets', token, body: { site_id: site.siteId, media: 'text', queue_id } };
    },
    async (site) => {
      const queue_id = await makeQueue(server, site, { when_unstaffed: 'accept' });
      const body = { media: 'text', queue_id, new_site_visitor: { site_id: site.siteId, name: 'New' } };
      return { request: 'POST /queue_tickets', body };
    },
  ],
  queues: [
    ({ siteId }) => ({ request: 'POST /queues', body: { site_id: siteId, ...queueFields } }),
    async (site) => {
      const fallback_queue_id = await makeQueue(server, site);
      const queue = await makeQueue(server, account);
      return { request: `PUT /queues/${queue}`, body: { ...queueFields, fallback_queue_id } };
    },
  ],
  scheduling_policies: [
    ({ siteId }) => ({ request: 'POST /queues/scheduling_policies', body: { site_id: siteId, ...policyFields } }),
  ],
  sip_domains: [
    ({ siteId }) => ({ request: 'POST /sip_domains', body: { site_id: siteId, domain: `${siteId}.example.com` } }),
  ],
  sms_threads: [
    async (site) => {
      const { token } = await makeAvailableOperator(server, site);
      const numbers = { from_number: newNumber(), to_number: newNumber() };
      return { request: 'POST /outbound_sms', token, body: { site_id: site.siteId, ...numbers, message: 'Hello?' } };
    },
  ],
  teams: [({ siteId }) => ({ request: 'POST /teams', body: { site_id: siteId, name: 'New' } })],
  visitor_authentication_providers: [
    ({ siteId }) => ({ request: `POST /sites/${siteId}/visitor_authentication_providers`, body: providerFields() }),
  ],
  visitor_authentication_requests: [
    async (site) => {
      const provider_id = await makeProvider(server, site);
      const { token } = await makeVisitor(server, site);
      return { request: 'POST /visitor_authentication/requests', token, body: { provider_id, id_token: 'none' } };
    },
  ],
  visitors: [
    ({ siteId }) => ({ request: 'POST /visitors', body: { site_id: siteId, name: 'New' } }),
    async (site) => {
      const team_ids = [await makeTeam(server, site, site.siteId)];
      return { request: 'POST /visitors', body: { site_id: site.siteId, team_ids } };
    },
    async ({ siteId }) => {
      const { id, token } = await makeVisitor(server, account);
      return { request: `PATCH /visitors/${id}`, token, body: { site_id: siteId } };
    },
  ],
  webhooks: [
    ({ siteId }) => ({ request: 'POST /webhooks', body: { ...webhookFields, site_ids: [siteId] } }),
    async ({ siteId }) => {
      const { id } = await makeWebhook(server, account, { site_ids: [account.siteId] });
      return { request: `PUT /webhooks/${id}`, body: { ...webhookFields, site_ids: [account.siteId, siteId] } };
    },
  ],
};

/** Requests that change or delete something of a site. */
const changes: readonly Add[] = [
  ({ siteId }) => ({ request: `PATCH /sites/${siteId}`, body: { name: 'Raced' } }),
  ({ siteId }) => ({ request: `DELETE /sites/${siteId}?confirm=Raced` }),
  async (site) => ({ request: `PATCH /teams/${await makeTeam(server, site, site.siteId)}`, body: { name: 'Renamed' } }),
  async (site) => ({ request: `DELETE /teams/${await makeTeam(server, site, site.siteId)}` }),
  async (site) => ({
    request: `PUT /queues/scheduling_policies/${await makePolicy(server, site)}`,
    body: policyFields,
  }),
  async (site) => ({ request: `DELETE /queues/scheduling_policies/${await makePolicy(server, site)}` }),
  async (site) => ({ request: `PUT /queues/${await makeQueue(server, site)}`, body: queueFields }),
  async (site) => ({ request: `PATCH /queues/${await makeQueue(server, site)}/rankings`, body: { operators: [] } }),
  async (site) => ({ request: `DELETE /queues/${await makeQueue(server, site)}` }),
  async (site) => {
    const { id } = await makeApplicationToken(server, site, 'publishable');
    return { request: `DELETE /sites/${site.siteId}/application_tokens/${id}` };
  },
  async (site) => {
    const id = await makeProvider(server, site);
    return { request: `DELETE /sites/${site.siteId}/visitor_authentication_providers/${id}` };
  },
  async (site) => {
    const { id, token } = await makeOperator(server, site, [{ site_id: site.siteId, role: 'operator' }]);
    return { request: `PUT /operators/${id}/presence`, token, body: { available: true } };
  },
  async (site) => {
    const { id } = await makeOperator(server, site, [{ site_id: site.siteId, role: 'super_manager' }]);
    return { request: `PATCH /operators/${id}`, body: { assignments: [] } };
  },
];

/** Tables to which no request adds a row of a site, other than by a request above. */
const derived: Readonly<Record<string, string>> = {
  deleted_queues: 'written by a trigger when a queue is deleted',
  engagements: 'begins with a request or a ticket, and while one is active the site is not deleted',
  sub_engagements: 'part of an engagement',
  sms_messages: 'part of a thread',
  presence_intervals: 'written by a trigger when the assignments of an operator change',
  sample_data: 'the site of the sample data cannot be deleted by a request',
};

/** Tables that keep rows of a deleted site for their usual time. */
const logs = ['audit_log', 'events'];

interface SiteColumn {
  readonly table: string;
  readonly column: string;
  readonly isList: boolean;
}

/** The columns that name a site: by their name, or by a foreign key to sites. */
async function siteColumns(): Promise<readonly SiteColumn[]> {
  return sql<SiteColumn[]>`
    SELECT c.relname AS table, a.attname AS column, a.atttypid = 'uuid[]'::regtype AS "isList"
      FROM pg_class c
      JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
     WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
       AND (a.attname ~ '(^|_)sites?(_|$)' OR a.attname IN ('covers', 'has_covered')
            OR EXISTS (SELECT FROM pg_constraint f
                        WHERE f.conrelid = c.oid AND f.contype = 'f' AND f.confrelid = 'sites'::regclass
                          AND a.attnum = ANY(f.conkey) AND a.attname <> 'account_id'))
     ORDER BY 1, 2`;
}

const columns = await siteColumns();

test('every table with a column that names a site is raced, or says why it is not', () => {
  const known = [...Object.keys(additions), ...Object.keys(derived), ...logs];
  assert.deepEqual([...new Set(columns.map(({ table }) => table))].toSorted(), known.toSorted());
});

/** Locks the table against writes, until `release` is called. */
async function stopWritesTo(table: string): Promise<{ readonly release: () => Promise<void> }> {
  const locked = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  const ended = observer.begin(async (locking) => {
    await locking`LOCK TABLE ${locking(table)} IN EXCLUSIVE MODE`;
    locked.resolve();
    await released.promise;
  });
  await Promise.race([locked.promise, ended]);
  return {
    release: async () => {
      released.resolve();
      await ended;
    },
  };
}

async function countWaiting(): Promise<number> {
  const [row] = await observer<{ count: number }[]>`
    SELECT count(DISTINCT pid)::integer AS count
      FROM pg_locks l
      JOIN pg_stat_activity a USING (pid)
     WHERE NOT l.granted AND a.datname = current_database()`;
  return row?.count ?? 0;
}

/** Requests that are not answered yet. */
let pending = 0;

/** Sends the request, and resolves once it is answered, or it and all others that are not wait for a lock. */
async function sendUntilWaiting(send: () => Promise<Answer>): Promise<{ answer: Promise<Answer> }> {
  let isAnswered = false;
  pending += 1;
  const answer = send().finally(() => {
    isAnswered = true;
    pending -= 1;
  });
  await until(async () => isAnswered || (await countWaiting()) >= pending);
  return { answer };
}

interface Race {
  readonly site: TestAccount;
  readonly added: Answer;
  readonly deleted: Answer;
}

const inOrder = {
  /** The deletion has deleted all configuration and has not committed, when the addition begins. */
  'deletion first': async (add: () => Promise<Answer>, remove: () => Promise<Answer>) => {
    const writes = await stopWritesTo('deleted_sites');
    const deletion = await sendUntilWaiting(remove);
    const addition = await sendUntilWaiting(add);
    await writes.release();
    return { added: await addition.answer, deleted: await deletion.answer };
  },
  /** The addition has written its row and has not committed, when the deletion begins. */
  'addition first': async (add: () => Promise<Answer>, remove: () => Promise<Answer>) => {
    const writes = await stopWritesTo('audit_log');
    const addition = await sendUntilWaiting(add);
    const deletion = await sendUntilWaiting(remove);
    await writes.release();
    return { added: await addition.answer, deleted: await deletion.answer };
  },
};

async function race(order: keyof typeof inOrder, add: Add): Promise<Race> {
  const site = { ...account, siteId: await makeSite(server, account, 'Raced') };
  const { request, token = account.admin, body } = await add(site);
  const path = `DELETE /sites/${site.siteId}?confirm=Raced`;
  return {
    site,
    ...(await inOrder[order](
      async () => call(server, request, { token, body }),
      async () => call(server, path, { token: account.admin }),
    )),
  };
}

async function tablesNaming(pool: Sql, siteId: SiteId): Promise<string[]> {
  const naming: string[] = [];
  for (const { table, column, isList } of columns) {
    if (logs.includes(table)) continue;
    const named = isList ? pool`${siteId} = ANY(${pool(column)})` : pool`${pool(column)} = ${siteId}`;
    if ((await pool`SELECT FROM ${pool(table)} WHERE ${named} LIMIT 1`).length > 0) naming.push(table);
  }
  return naming;
}

/** These have rows until the remains of the site are removed. */
const history = new Set([
  'deleted_queues',
  'engagement_requests',
  'presence_intervals',
  'queue_tickets',
  'sms_messages',
  'sms_threads',
  'visitor_authentication_requests',
  'visitors',
]);

async function assertNo5xx(order: keyof typeof inOrder, add: Add): Promise<Race> {
  const raced = await race(order, add);
  const { added, deleted } = raced;
  const answers = JSON.stringify([added, deleted].map(({ status, body }) => [status, body]));
  assert.ok(added.status < 300 || [401, 404, 409, 422].includes(added.status), answers);
  const mayRemain = order === 'addition first' && added.status < 300;
  assert.ok((mayRemain ? [204, 404, 409] : [204]).includes(deleted.status), answers);
  return raced;
}

for (const order of ['deletion first', 'addition first'] as const) {
  for (const [table, adds] of Object.entries(additions))
    test(`${order}: what is added to ${table} while the site is deleted is refused or deleted with the site`, async () => {
      for (const add of adds) {
        const { site, deleted } = await assertNo5xx(order, add);
        if (deleted.status !== 204) continue;
        const naming = await tablesNaming(sql, site.siteId);
        assert.deepEqual(
          naming.filter((name) => !history.has(name)),
          [],
        );
        await sql`UPDATE deleted_sites SET deleted_at = now() - interval '2 hours' WHERE id = ${site.siteId}`;
        await removeRemains(sql, new FileDisk(server.dataDir, createLog('silent')), () => true);
        assert.deepEqual(await tablesNaming(sql, site.siteId), []);
        await sql`DELETE FROM webhooks WHERE account_id = (SELECT account_id FROM sites WHERE id = ${account.siteId})`;
      }
    });

  test(`${order}: a change of something on the site while the site is deleted is made or refused`, async () => {
    for (const change of changes) await assertNo5xx(order, change);
  });
}
