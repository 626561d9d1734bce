import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inTransaction } from '../../../packages/server/src/platform/database/database.ts';
import type { AccountId } from '../../../packages/server/src/platform/ids.ts';
import type { Board } from '../../../packages/server/src/routing/board/board.ts';
import { loadBoard } from '../../../packages/server/src/routing/load-board.ts';
import { missedSteps, moveTimes } from '../../../packages/server/src/routing/move-times.ts';
import { call, startTestServer } from '../../support/server.ts';
import {
  acceptOffer,
  enqueue,
  expectStatus,
  makeAccount,
  makeAvailableOperator,
  makeQueue,
  offersOf,
} from '../../support/world.ts';

/** Every instant on a board, by the name of its object. */
function instantsOf(board: Board): Record<string, number | null> {
  const found: Record<string, number | null> = {};
  for (const { settings, memory } of board.queues.values())
    found[`queue ${settings.id} left others`] = memory.leftOthersAt;
  for (const { settings, leaseDeadline, graceDeadline } of board.operators.values()) {
    found[`operator ${settings.id} lease`] = settings.leaseUntil;
    found[`operator ${settings.id} lease ends`] = leaseDeadline.at;
    found[`operator ${settings.id} grace ends`] = graceDeadline.at;
  }
  for (const visitor of board.visitors.values()) {
    found[`visitor ${visitor.id} lease`] = visitor.leaseUntil;
    found[`visitor ${visitor.id} lease ends`] = visitor.leaseDeadline?.at ?? null;
  }
  for (const ticket of board.tickets.values()) {
    found[`ticket ${ticket.id} enqueued`] = ticket.enqueuedAt;
    for (const { queue, enteredAt } of ticket.entries) found[`ticket ${ticket.id} in ${queue.settings.id}`] = enteredAt;
    for (const [operator, until] of ticket.refusals ?? []) found[`ticket ${ticket.id} spares ${operator}`] = until;
    found[`ticket ${ticket.id} kept until`] = ticket.affinityDeadline?.at ?? null;
    found[`ticket ${ticket.id} spared until`] = ticket.refusalDeadline?.at ?? null;
  }
  for (const request of board.requests.values()) {
    found[`request ${request.id} created`] = request.createdAt;
    found[`request ${request.id} times out`] = request.deadline.at;
  }
  for (const { id, startedAt, subStartedAt } of board.engagements.values()) {
    found[`engagement ${id} started`] = startedAt;
    found[`engagement ${id} sub-engagement started`] = subStartedAt;
  }
  for (const [site, { deadline }] of board.expiries) found[`tickets of ${site} expire`] = deadline.at;
  return found;
}

test('a step of the clock shifts every instant of a board and its account', async () => {
  await using server = await startTestServer();
  const own = await makeAccount(server);
  const affinity = { operator_affinity: { time_window_sec: 600 } };
  const queue = await makeQueue(server, own, { when_unstaffed: 'accept', ...affinity });
  const [first, second] = [
    await makeAvailableOperator(server, own, { expires_in_sec: 600 }),
    await makeAvailableOperator(server, own),
  ];
  // One visitor is engaged, others still wait; one was declined and waits again; one is offered; one has a direct request.
  const tickets = [
    await enqueue(server, own, queue),
    await enqueue(server, own, queue),
    await enqueue(server, own, queue),
  ];
  for (const { visitor } of tickets) {
    const body = { expires_in_sec: 900 };
    expectStatus(await call(server, `PUT /visitors/${visitor.id}/presence`, { token: visitor.token, body }), 200);
  }
  await acceptOffer(server, first);
  const [offer] = await offersOf(server, second);
  const decline = { token: second.token, body: { action: 'decline' } };
  expectStatus(await call(server, `PATCH /engagement_requests/${offer?.id}`, decline), 200);
  const { sql } = server.database;
  const [account] = await sql<{ id: AccountId }[]>`SELECT account_id AS id FROM operators WHERE id = ${own.adminId}`;
  assert.ok(account);
  for (const byMs of [-86_400_000, 3_600_000]) {
    const undone = new Error('undone');
    const run = inTransaction(sql, async (held) => {
      await held`SELECT set_config('usher.turn', 'on', true)`;
      const readAccount = async () => {
        const [row = assert.fail()] = await held<{ turned: number; due: number; version: number; shift: number }[]>`
          SELECT extract(epoch FROM turned_at)::float8 * 1000 AS turned, extract(epoch FROM next_due_at)::float8 * 1000 AS due,
                 board_version::float8 AS version, clock_shift_ms::float8 AS shift
            FROM accounts WHERE id = ${account.id}`;
        return row;
      };
      const row = await readAccount();
      const before = instantsOf(await loadBoard(held, account.id, row.turned));
      for (const part of ['lease', 'enqueued', 'spares', 'created', 'times out', 'started', 'left others', 'expire'])
        assert.ok(
          Object.entries(before).some(([name, at]) => name.includes(part) && at !== null),
          `nothing with ${part}`,
        );
      await moveTimes(held, { accountId: account.id, byMs, shiftMs: byMs, version: row.version + 1 });
      const moved = await readAccount();
      const { turned, due, version } = row;
      assert.deepEqual(moved, { turned: turned + byMs, due: due + byMs, version: version + 1, shift: byMs });
      const after = instantsOf(await loadBoard(held, account.id, moved.turned));
      const expected = Object.entries(before).map(([name, at]) => [name, at === null ? null : at + byMs]);
      assert.deepEqual(after, Object.fromEntries(expected));
      throw undone;
    });
    await assert.rejects(run, undone);
  }
});

test('a board is shifted by the steps it has missed and never left in the future', () => {
  const account = { turnedAt: 1_000_000, now: 1_000_500, shiftMs: 0, boardShiftMs: 0 };
  assert.equal(missedSteps(account), 0);
  assert.equal(missedSteps({ ...account, now: 400_500, shiftMs: -600_000 }), -600_000);
  assert.equal(missedSteps({ ...account, now: 1_600_500, shiftMs: 600_000 }), 600_000);
  // A step forward and back that no process saw.
  assert.equal(missedSteps({ ...account, shiftMs: 0, boardShiftMs: 0, now: 1_900_000 }), 0);
  // The clock was set back, and no step was recorded.
  assert.equal(missedSteps({ ...account, now: 400_000 }), -600_000);
  // Only a part of the step was recorded.
  assert.equal(missedSteps({ ...account, now: 300_000, shiftMs: -600_000 }), -700_000);
  assert.equal(missedSteps({ ...account, turnedAt: null, shiftMs: 600_000 }), 600_000);
});
