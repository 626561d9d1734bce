import assert from 'node:assert/strict';
import { test } from 'node:test';
import { queryObjects } from 'node:v8';
import { Desk } from '../../../../../../test/support/board/desk.ts';
import { Deadline } from './deadlines.ts';

test('a board keeps no changes in memory but the current ones and those taken last', () => {
  const count = (): number => queryObjects(Deadline, { format: 'count' });
  const before = count();
  const desk = new Desk();
  desk.queue('support');
  desk.operator('ann');
  desk.enqueue('visitor 0');
  // One visitor is always waiting: each turn leaves an object on the board that the next turns come after.
  for (let n = 1; n <= 50; n += 1) {
    desk.enqueue(`visitor ${n}`);
    desk.answer('ann', 'accept');
    desk.end(desk.engagement(`visitor ${n - 1}`), 'operator');
  }
  // Every offer has a deadline: those of past turns would be another fifty.
  const deadlines = count() - before;
  assert.ok(deadlines < 20, `${deadlines} deadlines`);
});
