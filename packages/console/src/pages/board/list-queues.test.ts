import assert from 'node:assert/strict';
import test from 'node:test';
import type { Queue } from '@usher/sdk/api-types';
import { fallbackChain, findOverflowQueue } from './fallback-chain.ts';
import { listQueues } from './list-queues.ts';

const queue = (id: string, more: Partial<Queue> = {}): Queue =>
  ({
    id,
    name: id,
    capacity: 2,
    capacity_policy: { type: 'fixed', capacity: 2 },
    status: 'opened',
    self_status: 'opened',
    fallback_queue_id: null,
    average_wait_time: 0,
    visitors_count: 0,
    ...more,
  }) as Queue;

test('a fallback chain ends at its last queue, at a queue that is not visible, or before a loop', () => {
  const chainOf = (queues: readonly Queue[]): string => {
    const [first = queue('none')] = queues;
    const chain = fallbackChain(first, new Map(queues.map((each) => [each.id, each])));
    return chain.map((link) => link?.id ?? '?').join(' ');
  };
  const link = (id: string, to: string | null): Queue => queue(id, { fallback_queue_id: to });
  assert.equal(chainOf([link('a', 'b'), link('b', 'c'), link('c', null)]), 'b c');
  assert.equal(chainOf([link('a', 'b'), link('b', 'elsewhere')]), 'b ?');
  assert.equal(chainOf([link('a', 'b'), link('b', 'a')]), 'b');
  const closed = queue('b', { self_status: 'closed', status: 'opened' });
  assert.equal(findOverflowQueue([closed, null, queue('d')])?.id, 'd');
  assert.equal(findOverflowQueue([closed, null]), null);
});

test('queues are sorted by name with numbers in order or by urgency, and filtered by a search', () => {
  const queues = [
    queue('Queue 10', { visitors_count: 1 }),
    queue('Queue 9', { average_wait_time: 3 }),
    // The queue overflows: its fallback takes visitors, but the queue itself is not open.
    queue('Ä', { self_status: 'full', visitors_count: 5 }),
  ];
  const since = new Map([
    ['Queue 10', '2026-01-01'],
    ['Ä', '2026-02-01'],
  ]);
  const listed = (order: Partial<Parameters<typeof listQueues>[2]>): string =>
    listQueues(queues, (id) => since.get(id) ?? null, { sorting: 'name', search: '', only: 'all', ...order })
      .map(({ id }) => id)
      .join(', ');
  assert.equal(listed({}), 'Ä, Queue 9, Queue 10');
  assert.equal(listed({ sorting: 'waiting' }), 'Ä, Queue 10, Queue 9');
  assert.equal(listed({ sorting: 'longest' }), 'Queue 10, Ä, Queue 9');
  assert.equal(listed({ sorting: 'average' }), 'Queue 9, Ä, Queue 10');
  assert.equal(listed({ search: ' QUEUE 1' }), 'Queue 10');
  assert.equal(listed({ only: 'unavailable' }), 'Ä');
});
