import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connect, inTransaction, type Sql } from '../../packages/server/src/platform/database.ts';
import type { AccountId } from '../../packages/server/src/platform/ids.ts';
import { movedBetween } from '../../packages/server/src/routing/board-moves.ts';
import type { Board } from '../../packages/server/src/routing/board/board.ts';
import { catchUp, loadBoard } from '../../packages/server/src/routing/load-board.ts';
import { lockForTurn, movesSince } from '../../packages/server/src/routing/turn-store.ts';
import { instantsOf } from '../support/board-instants.ts';
import { forThisFile } from '../support/fixture.ts';
import { call, startTestServer, until } from '../support/server.ts';
import {
  acceptOffer,
  enqueue,
  expectStatus,
  makeAccount,
  makeAvailableOperator,
  makeQueue,
  offersOf,
  type TestAccount,
} from '../support/world.ts';

const server = await forThisFile(startTestServer());
const { sql } = server.database;

async function accountOf({ adminId }: TestAccount): Promise<AccountId> {
  const [row = assert.fail()] = await sql<{ id: AccountId }[]>`
    SELECT account_id AS id FROM operators WHERE id = ${adminId}`;
  return row.id;
}

async function versionOf(account: AccountId): Promise<number> {
  const [row = assert.fail()] = await sql<{ version: number }[]>`
    SELECT board_version::float8 AS version FROM accounts WHERE id = ${account}`;
  return row.version;
}

/** What a board knows of everybody, besides instants. */
function statesOf(board: Board): unknown {
  return {
    tickets: [...board.tickets.values()].map(({ id, seq, state, visitor, entries }) => ({
      id,
      seq,
      state,
      visitor: visitor.id,
      queues: entries.map(({ queue }) => queue.settings.id),
    })),
    requests: [...board.requests.values()].map(({ id, operator }) => ({ id, operator: operator?.settings.id })),
    engagements: [...board.engagements.values()].map(({ id, operator }) => ({ id, operator: operator.settings.id })),
    operators: [...board.operators.values()].map(({ settings }) => settings),
    waits: [...board.queues.values()].map(({ memory }) => memory),
  };
}

test('a board that catches up with the turns of others, by one statement, equals a board that is loaded', async () => {
  const own = await makeAccount(server);
  const account = await accountOf(own);
  const queue = await makeQueue(server, own, { when_unstaffed: 'accept' });
  const operators = [await makeAvailableOperator(server, own), await makeAvailableOperator(server, own)];
  const from = await versionOf(account);
  let statements = 0;
  const counting = connect(server.database.address, { max: 1, debug: () => (statements += 1) });
  try {
    const board = await loadBoard(counting, account, Date.now());
    const [first = assert.fail(), second = assert.fail()] = operators;
    const tickets = [];
    for (let n = 0; n < 5; n += 1) tickets.push(await enqueue(server, own, queue));
    await acceptOffer(server, first);
    const [offer] = await offersOf(server, second);
    const decline = { token: second.token, body: { action: 'decline' } };
    expectStatus(await call(server, `PATCH /engagement_requests/${offer?.id}`, decline), 200);
    const cancel = { token: own.admin, body: { action: 'cancel' } };
    expectStatus(await call(server, `PATCH /queue_tickets/${tickets.at(-1)?.id}`, cancel), 200);

    const moved = movedBetween(await movesSince(sql, account, from), { from, to: await versionOf(account) });
    assert.ok(moved !== null && moved.length > 0);
    statements = 0;
    await catchUp(board, counting, account, moved);
    assert.equal(statements, 1);
    const loaded = await loadBoard(counting, account, board.now);
    assert.deepEqual(statesOf(board), statesOf(loaded));
    assert.deepEqual(instantsOf(board), instantsOf(loaded));
  } finally {
    await counting.end();
  }
});

test('a turn that waited for the lock does not take the moves of its old snapshot for all moves', async () => {
  const own = await makeAccount(server);
  const account = await accountOf(own);
  const cachedVersion = await versionOf(account);
  const lock = async (held: Sql) => lockForTurn(held, account, { onlyIfDue: false, cachedVersion });
  const waits = async (): Promise<boolean> =>
    (await sql`SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%usher.turn%'`).length > 0;
  const { promise: release, resolve } = Promise.withResolvers<void>();
  const earlier = inTransaction(sql, async (held) => {
    await lock(held);
    await release;
    await held`
      INSERT INTO board_moves (account_id, version, previous, things)
      VALUES (${account}, ${cachedVersion + 1}, ${cachedVersion}, '{}')`;
    await held`UPDATE accounts SET board_version = ${cachedVersion + 1} WHERE id = ${account}`;
  });
  await until(
    async () => (await sql`SELECT 1 FROM accounts WHERE id = ${account} FOR UPDATE SKIP LOCKED`).length === 0,
  );
  const later = inTransaction(sql, async (held) => {
    const locked = (await lock(held)) ?? assert.fail();
    return { locked, moves: await movesSince(held, account, cachedVersion) };
  });
  await until(waits);
  resolve();
  await earlier;
  const { locked, moves } = await later;
  const span = { from: cachedVersion, to: locked.version };
  assert.equal(locked.version, cachedVersion + 1);
  assert.equal(movedBetween(locked.moves, span), null);
  assert.deepEqual(movedBetween(moves, span), [{}]);
});
