import assert from 'node:assert/strict';
import test from 'node:test';
import type { Engagement, Operator, Queue, QueueTicket } from '@usher/sdk/api-types';
import { BoardStore } from './board-store.ts';

const at = (seconds: number): string => new Date(1_700_000_000_000 + seconds * 1_000).toISOString();

function queue(id: string, more: Partial<Queue> = {}): Queue {
  const made: Partial<Queue> = {
    id,
    site_id: 'shop',
    name: id,
    capacity: 10,
    routing_policy: {},
    status: 'opened',
    self_status: 'opened',
    visitors_count: 0,
    average_wait_time: 0,
    fallback_queue_id: null,
    updated_at: at(0),
    ...more,
  };
  return made as Queue;
}

function ticket(id: string, seconds: number, more: Partial<QueueTicket> = {}): QueueTicket {
  const made: Partial<QueueTicket> = {
    id,
    site_id: 'shop',
    visitor_id: `visitor ${id}`,
    media: 'text',
    queue_ids: ['sales'],
    state: 'waiting',
    created_at: at(seconds),
    ...more,
  };
  return made as QueueTicket;
}

function operator(id: string, more: Partial<Operator> = {}): Operator {
  const made: Partial<Operator> = {
    id,
    name: id,
    enabled: true,
    available: true,
    media: ['text'],
    max_engagement_count: 2,
    assignments: [{ site_id: 'shop', role: 'operator', team_ids: [] }],
    ...more,
  };
  return made as Operator;
}

function engagement(id: string, operatorId: string, more: Partial<Engagement> = {}): Engagement {
  const made: Partial<Engagement> = {
    id,
    site_id: 'shop',
    operator_id: operatorId,
    media: 'text',
    state: 'active',
    started_at: at(0),
    ...more,
  };
  return made as Engagement;
}

/** A store whose frames run when the test calls `frame`. */
function makeStore(): { store: BoardStore; frame: () => void; frames: () => number; stale: () => number } {
  const scheduled: (() => void)[] = [];
  let [frames, stale] = [0, 0];
  const store = new BoardStore({
    siteIds: ['shop'],
    schedule: (run) => scheduled.push(run),
    onQueuesStale: () => (stale += 1),
  });
  const frame = (): void => {
    for (const run of scheduled.splice(0)) {
      frames += 1;
      run();
    }
  };
  return { store, frame, frames: () => frames, stale: () => stale };
}

const feedItem = (type: string, data: unknown) => ({ type: `${type}.state`, data });

test('positions are updated when visitors join, are offered and leave', () => {
  const { store } = makeStore();
  const [a, b, c] = [ticket('a', 1), ticket('b', 2), ticket('c', 3, { queue_ids: ['sales', 'night'] })];
  for (const each of [c, a, b]) store.apply(feedItem('queue_ticket', each));
  const positions = (queueId: string | null): (number | null)[] =>
    store.tickets(queueId).map((each) => store.position(each, queueId));
  assert.deepEqual(
    store.tickets('sales').map(({ id }) => id),
    ['a', 'b', 'c'],
  );
  assert.deepEqual(positions('sales'), [1, 2, 3]);
  // The best position of all queues counts, as on the server.
  assert.deepEqual(positions(null), [1, 2, 1]);
  store.apply(feedItem('queue_ticket', { ...a, state: 'offered' }));
  assert.deepEqual(positions('sales'), [null, 1, 2]);
  // A ringing ticket has no position, but still waits.
  assert.equal(store.tickets('sales').length, 3);
  assert.equal(store.longestSince('sales'), at(1));
  store.apply(feedItem('queue_ticket', { ...a, state: 'engaged' }));
  store.apply(feedItem('queue_ticket', { ...b, queue_ids: ['night'] }));
  assert.deepEqual([positions('sales'), positions('night')], [[1], [1, 2]]);
  store.apply(feedItem('queue_ticket', ticket('far', 0, { site_id: 'bank' })));
  assert.equal(store.tickets(null).length, 2);
  store.apply(feedItem('transfer_ticket', ticket('moved', 9, { engagement_id: 'talk' })));
  assert.equal(store.tickets(null).length, 3);
});

test('of two tickets of the same millisecond, the one reported first keeps the first position', () => {
  const { store } = makeStore();
  const [z, a] = [ticket('z', 1), ticket('a', 1)];
  store.apply(feedItem('queue_ticket', z));
  store.apply(feedItem('queue_ticket', a));
  store.apply(feedItem('queue_ticket', { ...z, state: 'offered' }));
  store.apply(feedItem('queue_ticket', z));
  assert.deepEqual(
    store.tickets('sales').map(({ id }) => id),
    ['z', 'a'],
  );
});

test('feed items that arrive during a read win over the read', async () => {
  const { store } = makeStore();
  store.apply(feedItem('queue_ticket', ticket('before', 0)));
  await store.readAll('tickets', async (add) => {
    store.apply(feedItem('queue_ticket', { ...ticket('left', 1), state: 'canceled' }));
    store.apply(feedItem('queue_ticket', ticket('came', 2)));
    add([ticket('left', 1), ticket('stays', 3)]);
  });
  assert.deepEqual(
    store.tickets(null).map(({ id }) => id),
    ['came', 'stays'],
  );
  assert.ok(store.isLoaded('tickets') && !store.isLoaded('queues'));
  // A failed read changes nothing.
  await assert.rejects(
    store.readAll('tickets', async () => {
      throw new Error('gone');
    }),
  );
  assert.equal(store.tickets(null).length, 2);
});

test('a feed item updates the live figures of a queue, and other changes make the queues stale', async () => {
  const { store, stale } = makeStore();
  await store.readAll('queues', async (add) => add([queue('sales'), queue('gone')]));
  store.apply(feedItem('queue', { id: 'sales', site_id: 'shop', visitors_count: 3, updated_at: at(0) }));
  assert.deepEqual(
    [store.queues.get('sales')?.visitors_count, store.queues.get('sales')?.name, stale()],
    [3, 'sales', 0],
  );
  store.apply(feedItem('queue', { id: 'new', site_id: 'shop', updated_at: at(0) }));
  store.apply(feedItem('queue', { id: 'sales', site_id: 'shop', updated_at: at(9) }));
  store.apply(feedItem('queue', { id: 'far', site_id: 'bank', updated_at: at(9) }));
  assert.equal(stale(), 2);
  await store.readAll('queues', async (add) => {
    store.apply(feedItem('queue', { id: 'sales', site_id: 'shop', visitors_count: 4, updated_at: at(9) }));
    store.apply(feedItem('queue', { id: 'gone', site_id: 'shop', deleted: true }));
    add([queue('sales', { name: 'Renamed', updated_at: at(9) }), queue('gone'), queue('new')]);
  });
  const { name, visitors_count, updated_at } = store.queues.get('sales') ?? queue('none');
  assert.deepEqual([name, visitors_count, updated_at], ['Renamed', 4, at(9)]);
  assert.deepEqual([...store.queues.keys()].toSorted(), ['new', 'sales']);
});

test('operators count as staff of every queue they serve, and as busy when they are at capacity', async () => {
  const { store } = makeStore();
  const team = queue('team', { routing_policy: { team_ids: ['red'] } });
  const video = queue('video', { routing_policy: { media: ['video'] } });
  const red = operator('red', { assignments: [{ site_id: 'shop', role: 'operator', team_ids: ['red'] }] });
  for (const each of [operator('ann'), red, operator('away', { available: false })])
    store.apply(feedItem('operator', each));
  await store.readAll('queues', async (add) => add([queue('sales'), team, video]));
  const staff = (): string =>
    ['sales', 'team', 'video'].map((id) => `${store.staff(id).present}/${store.staff(id).busy}`).join(' ');
  assert.equal(staff(), '2/0 1/0 0/0');
  store.apply(feedItem('engagement', engagement('one', 'red')));
  assert.equal(staff(), '2/0 1/0 0/0');
  store.apply(feedItem('engagement', engagement('two', 'red')));
  assert.equal(staff(), '2/1 1/1 0/0');
  assert.deepEqual(store.load('red'), { engagements: 2, isInCall: false });
  // Transferred to Ann, who is in a call and takes no other visitor.
  store.apply(feedItem('engagement', engagement('two', 'ann', { media: 'audio' })));
  assert.equal(staff(), '2/1 1/0 0/0');
  store.apply(feedItem('engagement', engagement('two', 'ann', { state: 'ended' })));
  store.apply(feedItem('operator', { ...red, media: ['video'] }));
  assert.equal(staff(), '2/0 1/0 1/0');
  store.apply(feedItem('operator', operator('ann', { enabled: false })));
  assert.equal(staff(), '1/0 1/0 1/0');
  assert.deepEqual(
    store.operators().map(({ id }) => id),
    ['away', 'red'],
  );
});

test('subscribers of a topic are notified once per frame, however many changes there are', () => {
  const { store, frame, frames } = makeStore();
  let [tickets, operators] = [0, 0];
  store.topics.subscribe('tickets', () => (tickets += 1));
  const stop = store.topics.subscribe('operators', () => (operators += 1));
  for (let n = 0; n < 1_000; n += 1) store.apply(feedItem('queue_ticket', ticket(`t${n}`, n)));
  assert.equal(tickets, 0);
  frame();
  assert.deepEqual([tickets, operators, frames()], [1, 0, 1]);
  frame();
  assert.equal(frames(), 1);
  stop();
  store.apply(feedItem('operator', operator('ann')));
  frame();
  assert.deepEqual([tickets, operators, store.topics.version('operators')], [1, 0, 1]);
});
