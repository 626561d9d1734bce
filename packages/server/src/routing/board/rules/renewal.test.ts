import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { OperatorId, VisitorId } from '../../../platform/ids.ts';
import { takeChanges } from '../board.ts';
import type { Changes } from '../structures/changes.ts';
import { apply } from '../commands.ts';
import { Desk } from '../../../../../../test/support/board/desk.ts';

/** D5.5: an open feed with presence renews the lease of its operator or visitor. */

const leaseMs = 30_000;

/** Renews the leases, and returns the changes. */
function renew(desk: Desk, operators: readonly string[], visitors: readonly string[] = []): Changes {
  const operatorIds = operators as OperatorId[];
  const visitorIds = visitors as VisitorId[];
  apply(desk.board, { name: 'renewPresence', operatorIds, visitorIds, leaseMs }, desk.now);
  return takeChanges(desk.board);
}

function leaseOf(desk: Desk, operator: string): number | null | undefined {
  const until = desk.board.operators.get(operator as OperatorId)?.settings.leaseUntil;
  return typeof until === 'number' ? until - desk.board.now : until;
}

function setPresence(desk: Desk, operator: string, available: boolean, ms: number | null): void {
  const presence = { operatorId: operator as OperatorId, available, media: null, leaseMs: ms, reason: null };
  desk.ask({ name: 'setPresence', ...presence });
}

test('a renewed lease keeps the operator’s offers and engagements', () => {
  const desk = new Desk();
  desk.operator('ann');
  desk.queue('queue');
  setPresence(desk, 'ann', true, 10_000);
  desk.engage('vic', 'ann');
  for (let time = 0; time < 20; time += 1) {
    desk.wait(5);
    renew(desk, ['ann']);
  }
  assert.equal(leaseOf(desk, 'ann'), leaseMs);
  assert.equal(desk.board.operators.get('ann' as OperatorId)?.present, true);
  assert.equal(desk.engagement('vic').endedAt, null);
  desk.wait(60);
  assert.equal(desk.board.engagements.size, 0, 'without a renewal the engagement ends');
});

test('a renewal makes nobody available: neither an operator who is away nor one whose lease has ended', () => {
  const desk = new Desk();
  for (const name of ['away', 'late', 'always']) desk.operator(name);
  setPresence(desk, 'away', false, 10_000);
  setPresence(desk, 'late', true, 10_000);
  setPresence(desk, 'always', true, null);
  desk.wait(10);
  renew(desk, ['away', 'late', 'always', 'nobody']);
  assert.deepEqual(
    ['late', 'always'].map((name) => leaseOf(desk, name)),
    [0, null],
  );
  for (const name of ['away', 'late']) assert.equal(desk.board.operators.get(name as OperatorId)?.present, false);
});

test('D5.5: an available operator who comes back in the grace period of an engagement is available again, and it goes on', () => {
  const desk = new Desk();
  desk.operator('ann', { maxEngagements: 2 });
  desk.queue('queue');
  setPresence(desk, 'ann', true, 10_000);
  desk.engage('vic', 'ann');
  desk.wait(39);
  assert.equal(desk.board.operators.get('ann' as OperatorId)?.present, false);
  const renewed = renew(desk, ['ann']);
  assert.equal(leaseOf(desk, 'ann'), leaseMs);
  assert.equal(desk.board.operators.get('ann' as OperatorId)?.present, true);
  assert.deepEqual([renewed.renewals.size, renewed.availabilities.size, renewed.presences.size], [1, 1, 0]);
  assert.deepEqual([...renewed.states.values()], [desk.board.now - 29_000], 'the interval ended with the old lease');
  desk.wait(29);
  assert.equal(desk.engagement('vic').endedAt, null, 'the old grace period does not end it');
  desk.wait(31);
  assert.equal(desk.board.engagements.size, 0);
  renew(desk, ['ann']);
  assert.equal(desk.board.operators.get('ann' as OperatorId)?.present, false, 'after the engagement it is too late');
});

test('the lease of an operator who is away is renewed, even after it has ended', () => {
  const desk = new Desk();
  desk.operator('ann');
  setPresence(desk, 'ann', false, 10_000);
  desk.wait(5);
  const renewed = renew(desk, ['ann']);
  assert.equal(leaseOf(desk, 'ann'), leaseMs);
  assert.deepEqual([renewed.renewals.size, renewed.states.size], [1, 0], 'the interval continues');
  desk.wait(leaseMs / 1_000 + 20);
  const back = renew(desk, ['ann']);
  assert.equal(leaseOf(desk, 'ann'), leaseMs);
  assert.deepEqual([...back.states.values()], [desk.board.now - 20_000], 'the interval ended with the old lease');
  assert.deepEqual([back.presences.size, back.availabilities.size], [0, 0], 'and there are no events');
});

test('an operator who missed an offer keeps the lease, and it is renewed', () => {
  const desk = new Desk();
  desk.operator('ann');
  desk.queue('queue');
  setPresence(desk, 'ann', true, leaseMs);
  desk.enqueue('vic');
  for (let time = 0; time < 20; time += 1) {
    desk.wait(5);
    renew(desk, ['ann']);
  }
  assert.equal(desk.board.operators.get('ann' as OperatorId)?.settings.available, false);
  assert.equal(leaseOf(desk, 'ann'), leaseMs);
});

test('a renewal does not shorten a longer lease, and an unchanged lease is not written', () => {
  const desk = new Desk();
  desk.operator('ann');
  setPresence(desk, 'ann', true, 600_000);
  const { renewals, presences } = renew(desk, ['ann']);
  assert.equal(leaseOf(desk, 'ann'), 600_000);
  assert.deepEqual([renewals.size, presences.size], [0, 0]);
});

test('a renewal does not notify a change of staff, but the end of a lease does', () => {
  const desk = new Desk();
  desk.operator('ann');
  setPresence(desk, 'ann', true, 10_000);
  const renewed = renew(desk, ['ann']);
  assert.deepEqual([renewed.renewals.size, renewed.presences.size, renewed.availabilities.size], [1, 0, 0]);
  apply(desk.board, { name: 'tick' }, desk.now + leaseMs);
  const ended = takeChanges(desk.board);
  assert.deepEqual([ended.renewals.size, ended.presences.size, ended.availabilities.size], [0, 0, 1]);
});

test('a renewal starts the lease of a waiting visitor without one; a visitor with nothing on the board is not written', () => {
  const desk = new Desk();
  desk.queue('queue', { whenUnstaffed: 'accept' });
  desk.enqueue('vic');
  assert.deepEqual([...renew(desk, [], ['vic', 'wes']).visitorLeases.keys()], ['vic']);
  desk.wait(29);
  renew(desk, [], ['vic']);
  desk.wait(29);
  assert.equal(desk.board.tickets.size, 1);
  desk.wait(1);
  assert.equal(desk.board.tickets.size, 0);
});
