import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { QueueId } from '../platform/ids.ts';
import { findInOrder } from './find-in-order.ts';

const idOf = ({ id }: { readonly id: QueueId }): QueueId => id;
const items = ['a', 'b', 'c'].map((id) => ({ id: id as QueueId }));

test('items are found where they are expected, elsewhere, and not at all', () => {
  const find = findInOrder(items, idOf);
  for (const [id, n, found] of [
    ['a', 0, items[0]],
    ['c', 1, items[2]],
    ['a', 7, items[0]],
    ['x', 1, undefined],
  ] as const)
    assert.equal(find(id as QueueId, n), found, `${id} at ${n}`);
});
