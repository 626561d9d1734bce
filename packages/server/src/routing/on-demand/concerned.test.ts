import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Board } from '../board/board.ts';
import type { Changes } from '../board/structures/changes.ts';
import { Concerned } from './concerned.ts';

/** 500 queues with a pool each; queue 2 falls back to queue 1, and queue 3 to queue 2. */
function openBoard() {
  const queues = Array.from({ length: 500 }, (_, n) => {
    const fallbackId = n === 2 || n === 3 ? String(n - 1) : null;
    return { settings: { id: String(n), fallbackId }, pool: { queues: new Set<unknown>() } };
  });
  for (const queue of queues) queue.pool.queues.add(queue);
  const board = { queues: new Map(queues.map((queue) => [queue.settings.id, queue])) } as unknown as Board;
  return { queues, concerned: new Concerned(board) };
}

const changed = (changes: object) =>
  ({ queues: new Set(), presences: new Map(), availabilities: new Set(), ...changes }) as unknown as Changes;

const idsOf = (queues: Iterable<{ settings: { id: string } }>): string[] =>
  Array.from(queues, ({ settings }) => settings.id);

test('a turn looks at the queues it has changed and at those that fall back to them, not at all 500', () => {
  const { queues, concerned } = openBoard();
  assert.deepEqual(idsOf(concerned.by(changed({})).queues), []);
  assert.deepEqual(idsOf(concerned.by(changed({ queues: new Set([queues[7]]) })).queues), ['7']);
  assert.deepEqual(idsOf(concerned.by(changed({ queues: new Set([queues[1]]) })).queues), ['1', '2', '3']);
});

test('an operator who comes or goes concerns the queues of their pools', () => {
  const { queues, concerned } = openBoard();
  const [come, gone] = [{ pools: [queues[8]?.pool] }, { pools: [queues[9]?.pool, queues[3]?.pool] }];
  const { operators, queues: found } = concerned.by(
    changed({ presences: new Map([['come', { operator: come }]]), availabilities: new Set([gone]) }),
  );
  assert.deepEqual([...operators] as unknown[], [come, gone]);
  assert.deepEqual(idsOf(found), ['8', '9', '3']);
});
