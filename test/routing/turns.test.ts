import assert from 'node:assert/strict';
import { test } from 'node:test';
import pino from 'pino';
import type { AccountId, OperatorId } from '../../packages/server/src/platform/ids.ts';
import { connect } from '../../packages/server/src/platform/database.ts';
import { Turns } from '../../packages/server/src/routing/turns.ts';
import { forThisFile } from '../support/fixture.ts';
import { startTestServer, until } from '../support/server.ts';
import { enqueue, makeAccount, makeAvailableOperator, makeQueue, type TestAccount } from '../support/world.ts';

const server = await forThisFile(startTestServer());
const accounts = [await makeAccount(server), await makeAccount(server), await makeAccount(server)];

type Limits = NonNullable<ConstructorParameters<typeof Turns>[0]['limits']>;

/** Runs a second set of boards beside the server's, like another process. */
async function withTurns(limits: Limits, run: (turns: Turns) => Promise<void>): Promise<void> {
  const sql = connect(server.database.address, { max: 2 });
  const turns = new Turns({
    sql,
    changes: server.changes,
    clock: server.clock,
    log: pino({ level: 'silent' }),
    onMoved: () => undefined,
    limits,
  });
  try {
    await run(turns);
  } finally {
    await turns.stop();
    await sql.end();
  }
}

async function look(turns: Turns, { adminId }: TestAccount): Promise<number> {
  const [row] = await server.database.sql<
    { id: AccountId }[]
  >`SELECT account_id AS id FROM operators WHERE id = ${adminId}`;
  assert.ok(row);
  return (await turns.run(row.id, { name: 'viewRequests', operatorId: adminId as OperatorId })).length;
}

test('boards over the limit are evicted, and an evicted board is loaded again', async () => {
  await withTurns({ boards: 2 }, async (turns) => {
    for (const account of [...accounts, ...accounts]) {
      assert.equal(await look(turns, account), 0);
      await until(() => turns.load.boards <= 2);
    }
    assert.equal(turns.load.boards, 2);
  });
});

test('boards that together exceed the size limit are evicted', async () => {
  const [account] = accounts;
  assert.ok(account);
  await withTurns({ objects: 3 }, async (turns) => {
    await makeAvailableOperator(server, account, { media: ['phone'] });
    const queue = await makeQueue(server, account, { when_unstaffed: 'accept', routing_policy: { media: ['text'] } });
    await enqueue(server, account, queue);
    await enqueue(server, account, queue);
    await look(turns, account);
    await until(() => turns.load.boards === 0 && turns.load.objects === 0);
  });
});

test('an idle board is evicted', async () => {
  await withTurns({ idleMs: 50 }, async (turns) => {
    for (const account of accounts.slice(1)) await look(turns, account);
    await until(() => turns.load.boards === 0);
  });
});

test('orders over the limit of waiting orders are rejected as unavailable', async () => {
  await withTurns({ ordersWaiting: 5 }, async (turns) => {
    const [, account] = accounts;
    assert.ok(account);
    const [row] = await server.database.sql<{ id: AccountId }[]>`
      SELECT account_id AS id FROM operators WHERE id = ${account.adminId}`;
    assert.ok(row);
    const orders = Array.from({ length: 8 }, async () => turns.run(row.id, { name: 'tick' }));
    const settled = await Promise.allSettled(orders);
    assert.deepEqual(
      settled.map(({ status }) => status),
      [...Array.from({ length: 5 }, () => 'fulfilled'), ...Array.from({ length: 3 }, () => 'rejected')],
    );
  });
});
