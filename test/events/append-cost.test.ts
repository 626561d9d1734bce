import assert from 'node:assert/strict';
import { test } from 'node:test';
import { appendRows, appendSubjectEvents, eventRows } from '../../packages/server/src/events/append.ts';
import { catalogue } from '../../packages/server/src/events/catalogue.ts';
import { inTransaction, type Sql } from '../../packages/server/src/platform/database/database.ts';
import { newId } from '../../packages/server/src/platform/ids.ts';
import { pools } from '../../packages/server/src/platform/database/pools.ts';
import { forThisFile, openWorld } from '../support/fixture.ts';
import { plannedRows } from '../support/database/planned-rows.ts';
import { call } from '../support/server.ts';
import { webhookFields } from '../support/receivers/webhooks.ts';
import { expectStatus } from '../support/world.ts';

const { server, account } = await openWorld();
const pool = server.database.connect({ ...pools.turns, max: 1 });
await forThisFile({ close: async () => pool.end() });
const [owner] = await pool`SELECT account_id FROM operators WHERE id = ${account.adminId}`;
const context = { accountId: owner?.['account_id'], at: new Date() };

const webhook = { ...webhookFields, events: ['queue.status'] };
expectStatus(await call(server, 'POST /webhooks', { token: account.admin, body: webhook }), 201);

const cases: Readonly<Record<string, (sql: Sql, count: number) => Promise<unknown>>> = {
  'events with attached webhooks': async (sql, count) => {
    const type = 'engagement.start';
    const { sample: fields } = catalogue[type];
    const about = { subscribers: [newId<string>()] };
    const events = Array.from({ length: count }, () => ({ id: newId<string>(), type, about, fields }) as const);
    return sql`WITH ${appendRows(sql, context, eventRows(events, context.at), sql`true`)} SELECT 1`;
  },
  'events on demand': async (sql, count) => {
    const type = 'queue.status';
    const { sample: fields } = catalogue[type];
    const one = () =>
      ({ id: newId<string>(), type, about: {}, fields, subject: newId<string>(), siteIds: [] }) as const;
    return appendSubjectEvents(sql, context, Array.from({ length: count }, one));
  },
};

for (const [what, append] of Object.entries(cases)) {
  test(`ten times as many ${what} cost ten times as much`, async () => {
    const rowsFor = async (count: number): Promise<number> =>
      inTransaction(pool, async (sql) => plannedRows(sql, async (explaining) => append(explaining, count)));
    const [few, many] = [await rowsFor(20), await rowsFor(200)];
    assert.ok(few >= 20, `${few} rows are too few`);
    assert.ok(many <= few * 11, `${few} rows for 20 events, ${many} for 200`);
  });
}
