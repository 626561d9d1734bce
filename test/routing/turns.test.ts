import assert from 'node:assert/strict';
import { test } from 'node:test';
import pino from 'pino';
import type { AccountId, OperatorId } from '../../packages/server/src/platform/ids.ts';
import { connect } from '../../packages/server/src/platform/database/database.ts';
import { mediaSet } from '../../packages/server/src/routing/board/structures/media.ts';
import { dueAccounts } from '../../packages/server/src/routing/turn-store.ts';
import { Turns } from '../../packages/server/src/routing/turns.ts';
import { forThisFile } from '../support/fixture.ts';
import { call, startTestServer, until } from '../support/server.ts';
import {
  acceptOffer,
  enqueue,
  expectStatus,
  makeAccount,
  makeAvailableOperator,
  makeQueue,
  type TestAccount,
} from '../support/world.ts';

const server = await forThisFile(startTestServer());
const accounts = [await makeAccount(server), await makeAccount(server), await makeAccount(server)];

type Options = ConstructorParameters<typeof Turns>[0];
type Limits = NonNullable<Options['limits']>;

interface TurnsWatch extends Partial<Pick<Options, 'hintOf' | 'onOutdated' | 'onWritten' | 'onTurn' | 'log'>> {
  /** Called with each statement that is sent to the database. */
  readonly onStatement?: (text: string) => void;
}

/** Runs a second set of boards beside the server's, like another process. */
async function withTurns(
  limits: Limits,
  run: (turns: Turns) => Promise<void>,
  { onStatement = () => undefined, ...watch }: TurnsWatch = {},
): Promise<void> {
  const sql = connect(server.database.address, { max: 2, onStatement });
  const turns = new Turns({
    sql,
    changes: server.changes,
    clock: server.clock,
    log: pino({ level: 'silent' }),
    onOutdated: () => undefined,
    limits,
    ...watch,
  });
  try {
    await run(turns);
  } finally {
    await turns.stop();
    await sql.end();
  }
}

async function accountIdOf({ adminId }: TestAccount): Promise<AccountId> {
  const [row] = await server.database.sql<
    { id: AccountId }[]
  >`SELECT account_id AS id FROM operators WHERE id = ${adminId}`;
  assert.ok(row);
  return row.id;
}

async function look(turns: Turns, account: TestAccount, operatorId = account.adminId): Promise<number> {
  const order = { name: 'viewRequests', operatorId: operatorId as OperatorId } as const;
  return (await turns.run(await accountIdOf(account), order)).length;
}

test('an error of a callback after the commit is logged: the turn is not repeated, and its orders are answered', async () => {
  const account = await makeAccount(server);
  const accountId = await accountIdOf(account);
  const logged: string[] = [];
  const called: string[] = [];
  const failing = (name: string) => () => {
    called.push(name);
    throw new Error(`${name} failed`);
  };
  const watch = {
    log: pino({ level: 'error' }, { write: (line: string) => void logged.push(line) }),
    onOutdated: failing('onOutdated'),
    onWritten: failing('onWritten'),
    onTurn: failing('onTurn'),
  };
  const operatorId = account.adminId as OperatorId;
  const presence = { available: true, media: mediaSet(['text']), leaseMs: null, reason: null };
  await withTurns(
    {},
    async (turns) => {
      await Promise.all([
        turns.run(accountId, { name: 'setPresence', operatorId, ...presence }),
        turns.run(accountId, { name: 'viewRequests', operatorId }),
      ]);
    },
    watch,
  );
  assert.deepEqual(called, ['onOutdated', 'onWritten', 'onTurn']);
  assert.equal(logged.join('').match(/could not report a committed turn/g)?.length, 3);
});

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
  await withTurns({ commandsWaiting: 5 }, async (turns) => {
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

test('a board that catches up does not read tickets, requests and engagements that have ended', async () => {
  const account = await makeAccount(server);
  const operator = await makeAvailableOperator(server, account);
  const queue = await makeQueue(server, account);
  const statements: string[] = [];
  const reads = (): string[] =>
    ['board_moves', 'queue_states s', 'queue_tickets t', 'engagement_requests r', 'engagements e JOIN'].filter(
      (table) => statements.some((text) => text.includes(`FROM ${table}`)),
    );
  await withTurns(
    {},
    async (turns) => {
      const offers = async (): Promise<number> => {
        statements.length = 0;
        return look(turns, account, operator.id);
      };
      assert.equal(await offers(), 0);
      await enqueue(server, account, queue);
      assert.equal(await offers(), 1);
      assert.deepEqual(reads(), ['board_moves', 'queue_states s', 'queue_tickets t', 'engagement_requests r']);
      const end = async (): Promise<void> => {
        const body = { action: 'end' };
        const engagementId = await acceptOffer(server, operator);
        expectStatus(await call(server, `PATCH /engagements/${engagementId}`, { token: operator.token, body }), 200);
      };
      await end();
      assert.equal(await offers(), 0);
      assert.deepEqual(reads(), ['board_moves', 'queue_states s']);
      // An engagement from its beginning to its end, of which the board has seen nothing.
      await enqueue(server, account, queue);
      await end();
      assert.equal(await offers(), 0);
      assert.deepEqual(reads(), ['board_moves', 'queue_states s']);
      await enqueue(server, account, queue);
      assert.equal(await offers(), 1);
    },
    { onStatement: (text) => statements.push(text) },
  );
});

test('a turn that notifies other processes of moved queues sends its hint with that notification', async () => {
  const account = await makeAccount(server);
  const accountId = await accountIdOf(account);
  const operator = await makeAvailableOperator(server, account);
  const received: string[] = [];
  server.changes.on('hint', (id) => received.push(id));
  const written: boolean[] = [];
  await withTurns(
    {},
    async (turns) => {
      const leaseMs = 60_000;
      const presence = { operatorId: operator.id as OperatorId, available: false, media: 1, reason: null };
      await turns.run(accountId, { name: 'setPresence', ...presence, leaseMs });
      await server.changes.caughtUp();
      assert.deepEqual(received, [accountId]);
      // A renewed lease moves no queue.
      await turns.run(accountId, {
        name: 'renewPresence',
        operatorIds: [presence.operatorId],
        visitorIds: [],
        leaseMs: 2 * leaseMs,
      });
      await server.changes.caughtUp();
      assert.deepEqual(received, [accountId]);
      assert.deepEqual(written, [true, false]);
    },
    { hintOf: (id) => `hint:${id}`, onWritten: (_id, isHinted) => written.push(isHinted) },
  );
});

test('a turn that only catches up with another process sends no hint', async () => {
  const account = await makeAccount(server);
  const operator = await makeAvailableOperator(server, account);
  const queue = await makeQueue(server, account);
  const written: boolean[] = [];
  await withTurns(
    {},
    async (turns) => {
      assert.equal(await look(turns, account, operator.id), 0);
      await enqueue(server, account, queue);
      assert.equal(await look(turns, account, operator.id), 1);
      assert.deepEqual(written, []);
    },
    { onWritten: (_id, isHinted) => written.push(isHinted) },
  );
});

test('processes that poll for due accounts choose different ones', async () => {
  const { sql } = server.database;
  const rolledBack = sql.begin(async (own) => {
    await own`
      INSERT INTO accounts (id, name, next_due_at)
      SELECT gen_random_uuid(), 'due', now() - n * interval '1 second' FROM generate_series(1, 3000) AS n`;
    const [one, other] = [new Set(await dueAccounts(own, 100)), new Set(await dueAccounts(own, 100))];
    assert.deepEqual([one.size, other.size], [100, 100]);
    // About ten of the thousand that are due for the longest time are chosen by both.
    assert.ok(one.intersection(other).size < 50, `${one.intersection(other).size} of 100 are the same`);
    throw new Error('rolled back');
  });
  await assert.rejects(rolledBack, /rolled back/);
});
