import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FastifyRequest } from 'fastify';
import { createApp } from '../../../packages/server/src/platform/http/create-app.ts';
import { installPath } from '../../../packages/server/src/platform/http/request-path.ts';
import { inOneTransaction, sendWithCommit } from '../../../packages/server/src/platform/http/request-transaction.ts';
import { createLog } from '../../../packages/server/src/platform/log.ts';
import { openWorld } from '../../support/fixture.ts';

const { server } = await openWorld();
const { sql } = server.database;

async function transactionOf(request: FastifyRequest): Promise<string> {
  const [row] = await request.sql<{ id: string }[]>`SELECT pg_current_xact_id()::text AS id`;
  return row?.id ?? '';
}

test('request.sql is one transaction if a reason applies, and the pool otherwise and afterwards', async (t) => {
  const app = createApp({ log: createLog('silent'), sql, trustProxy: false });
  const steps: string[] = [];
  const seen: string[] = [];
  const hasKey = (): ((request: FastifyRequest) => boolean) => (request) => 'x-key' in request.headers;
  installPath(app, {
    aroundHandler: [
      () => async (request, reply, next) => {
        steps.push('outer begins');
        const answer = await next(request, reply);
        steps.push('outer ends');
        return answer;
      },
      inOneTransaction(hasKey, () => null),
      () => async (request, reply, next) => {
        steps.push('inner begins');
        const answer = await next(request, reply);
        if (request.lastStatements !== undefined)
          sendWithCommit(request, async () => seen.push(await transactionOf(request)));
        steps.push('inner ends');
        return answer;
      },
    ],
  });
  app.get('/ids', async (request) => ({ ids: [await transactionOf(request), await transactionOf(request)] }));
  app.get('/after', { onSend: async (request) => void seen.push(await transactionOf(request)) }, async (request) => ({
    ids: [await transactionOf(request)],
  }));
  app.get('/careless', async (request) => {
    sendWithCommit(request, async () => request.sql`SELECT 1`);
    return {};
  });
  t.after(async () => app.close());
  const idsOf = async (url: string, headers: Record<string, string>): Promise<string[]> =>
    (await app.inject({ url, headers })).json<{ ids: string[] }>().ids;

  const alone = await idsOf('/ids', {});
  assert.notEqual(alone[0], alone[1], 'without a reason each statement is a transaction');
  assert.deepEqual(steps, ['outer begins', 'inner begins', 'inner ends', 'outer ends']);
  assert.deepEqual(seen, []);
  const together = await idsOf('/ids', { 'x-key': '1' });
  assert.equal(together[0], together[1]);
  assert.deepEqual(seen.splice(0), [together[0]], 'the last statement belongs to the transaction');
  const [inside] = await idsOf('/after', { 'x-key': '1' });
  const [last, after] = seen;
  assert.equal(last, inside);
  assert.notEqual(after, inside, 'when the answer is sent the transaction is over');
  assert.equal((await app.inject({ url: '/careless' })).statusCode, 500);
});

test('a refusal or a failing last statement rolls back the transaction of the request', async (t) => {
  await sql`CREATE TABLE notes_of_test (note text)`;
  const app = createApp({ log: createLog('silent'), sql, trustProxy: false });
  installPath(app, { aroundHandler: [inOneTransaction(() => () => true)] });
  app.post('/refused', async (request) => {
    await request.sql`INSERT INTO notes_of_test VALUES ('refused')`;
    throw new Error('refused');
  });
  app.post('/last', async (request) => {
    await request.sql`INSERT INTO notes_of_test VALUES ('last')`;
    sendWithCommit(request, async () => request.sql`SELECT 1 / 0`);
    return {};
  });
  app.post('/kept', async (request) => {
    sendWithCommit(request, async () => request.sql`INSERT INTO notes_of_test VALUES ('kept')`);
    return {};
  });
  t.after(async () => app.close());
  const statuses = [];
  for (const url of ['/refused', '/last', '/kept'])
    statuses.push((await app.inject({ method: 'POST', url })).statusCode);
  assert.deepEqual(statuses, [500, 500, 200]);
  assert.deepEqual([...(await sql`SELECT note FROM notes_of_test`)], [{ note: 'kept' }]);
});
