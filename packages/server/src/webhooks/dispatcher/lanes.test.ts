import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Delivery } from './delivery.ts';
import { Lanes } from './lanes.ts';

function delivery(seq: number, engagement: string | null, more: Partial<Delivery> = {}): Delivery {
  return {
    id: `delivery ${seq}`,
    webhookId: 'webhook',
    destinationId: 'destination',
    engagementId: engagement,
    eventId: `event ${seq}`,
    seq,
    type: 'engagement.start',
    attempts: 0,
    parked: false,
    isDelayed: false,
    payload: '{}',
    ...more,
  } as Delivery;
}

const takeAll = (lanes: Lanes): number[] => {
  const taken: number[] = [];
  for (let next = lanes.take(); next !== undefined; next = lanes.take()) taken.push(next.seq);
  return taken;
};

test('deliveries of an engagement are sent one at a time, those without one all at once', () => {
  const lanes = new Lanes();
  for (const [seq, engagement] of [
    [1, 'a'],
    [2, 'a'],
    [3, 'b'],
    [4, null],
    [5, null],
  ] as const)
    lanes.add(delivery(seq, engagement));
  assert.deepEqual(takeAll(lanes), [1, 3, 4, 5]);
  lanes.pass(delivery(3, 'b'));
  assert.deepEqual(takeAll(lanes), []);
  lanes.pass(delivery(1, 'a'));
  assert.deepEqual(takeAll(lanes), [2]);
});

test('a failed delivery blocks its lane until it is retried, a parked one does not', () => {
  const lanes = new Lanes();
  lanes.add(delivery(1, 'a'));
  lanes.add(delivery(2, 'a'));
  takeAll(lanes);
  lanes.wait(delivery(1, 'a'));
  lanes.add(delivery(3, 'a'));
  assert.deepEqual(takeAll(lanes), []);
  assert.equal(lanes.blockedCount, 1);
  lanes.add(delivery(1, 'a', { attempts: 1, isDelayed: true }));
  assert.deepEqual(takeAll(lanes), [1]);
  // The delivery is parked now, and the lane continues without it.
  lanes.pass(delivery(1, 'a', { attempts: 1 }));
  assert.deepEqual(takeAll(lanes), [2]);
  lanes.add(delivery(1, 'a', { attempts: 3, parked: true, isDelayed: true }));
  assert.deepEqual(takeAll(lanes), [1]);
});

test('a lane that another process has blocked waits for its failed delivery too', () => {
  const lanes = new Lanes();
  lanes.block('webhook', 'a');
  lanes.add(delivery(2, 'a'));
  assert.deepEqual(takeAll(lanes), []);
  lanes.add(delivery(1, 'a', { attempts: 2, isDelayed: true }));
  assert.deepEqual(takeAll(lanes), [1]);
});

test('a limited number of deliveries waits in memory behind a failed one, and the rest is read again', () => {
  const lanes = new Lanes();
  lanes.block('webhook', 'a');
  const accepted = Array.from({ length: 600 }, (_, index) => lanes.add(delivery(index + 2, 'a'))).filter(Boolean);
  assert.equal(accepted.length, 500);
  lanes.add(delivery(1, 'a', { attempts: 1, isDelayed: true }));
  for (let seq = 1; seq <= 500; seq += 1) {
    assert.deepEqual(takeAll(lanes), [seq]);
    assert.equal(lanes.pass(delivery(seq, 'a')), false);
  }
  assert.deepEqual(takeAll(lanes), [501]);
  assert.equal(lanes.pass(delivery(501, 'a')), true);
  // Until the rest of the lane is read, later deliveries are not accepted.
  assert.equal(lanes.add(delivery(700, 'a')), false);
  const lane = { webhookId: 'webhook', engagementId: 'a' };
  assert.equal(lanes.resume(lane, [delivery(502, 'a'), delivery(503, 'a')], true), true);
  assert.deepEqual(takeAll(lanes), [502]);
  assert.equal(lanes.pass(delivery(502, 'a')), false);
  assert.deepEqual(takeAll(lanes), [503]);
  assert.equal(lanes.pass(delivery(503, 'a')), true);
  assert.equal(lanes.resume(lane, [], false), true);
  assert.equal(lanes.add(delivery(700, 'a')), true);
  assert.deepEqual(takeAll(lanes), [700]);
});

test('clear removes all deliveries except those in flight, whose lanes continue afterwards', () => {
  const lanes = new Lanes();
  for (const [seq, engagement] of [
    [1, 'a'],
    [2, 'a'],
    [3, 'b'],
    [4, null],
  ] as const)
    lanes.add(delivery(seq, engagement));
  assert.equal(lanes.take()?.seq, 1);
  assert.deepEqual(
    lanes.clear().map(({ seq }) => seq),
    [3, 4, 2],
  );
  // Read again while the first is in flight, it still comes after the first.
  assert.equal(lanes.add(delivery(2, 'a')), false);
  assert.equal(lanes.pass(delivery(1, 'a')), true);
  lanes.resume({ webhookId: 'webhook', engagementId: 'a' }, [delivery(2, 'a')], false);
  assert.deepEqual(takeAll(lanes), [2]);
});

/** A log that is read from the beginning in each round, and a receiver that fails for a while as the test says. */
function simulate(count: number, engagements: number, fails: () => boolean): Delivery[] {
  const lanes = new Lanes(3);
  const log = Array.from({ length: count }, (_, index) => delivery(index, `e${index % engagements}`));
  const waiting = new Map(log.map((each) => [each.seq, each]));
  const inMemory = new Set<number>();
  const arrived: Delivery[] = [];
  const continueLane = (done: Delivery): void => {
    if (!lanes.pass(done)) return;
    const isNext = (each: Delivery): boolean => each.engagementId === done.engagementId && !each.isDelayed;
    const rest = [...waiting.values()].filter((each) => isNext(each) && !inMemory.has(each.seq));
    const [some, more] = [rest.toSorted((a, b) => a.seq - b.seq).slice(0, 2), rest.length > 2];
    for (const { seq } of some) inMemory.add(seq);
    assert.ok(lanes.resume({ webhookId: 'webhook', engagementId: String(done.engagementId) }, some, more));
  };
  const send = (next: Delivery): void => {
    inMemory.delete(next.seq);
    if (!fails()) {
      waiting.delete(next.seq);
      arrived.push(next);
      continueLane(next);
      return;
    }
    const attempts = next.attempts + 1;
    const parked = attempts >= 3;
    waiting.set(next.seq, { ...next, attempts, isDelayed: true, parked });
    if (parked) continueLane(next);
    else for (const { seq } of lanes.wait(next)) inMemory.delete(seq);
  };
  for (let round = 0; waiting.size > 0; round += 1) {
    assert.ok(round < 10_000, 'the simulation does not end');
    for (const each of [...waiting.values()].toSorted((a, b) => a.seq - b.seq))
      if (!inMemory.has(each.seq) && lanes.add(each)) inMemory.add(each.seq);
    for (let next = lanes.take(); next !== undefined; next = lanes.take()) send(next);
  }
  return arrived;
}

test('the order within an engagement holds except for deliveries that failed three times, and nothing is lost', () => {
  const property = fc.property(
    fc.integer({ min: 1, max: 60 }),
    fc.integer({ min: 1, max: 4 }),
    fc.array(fc.boolean(), { maxLength: 400 }),
    (count, engagements, failing) => {
      const arrived = simulate(count, engagements, () => failing.pop() ?? false);
      assert.equal(arrived.length, count);
      for (const each of Map.groupBy(arrived, ({ seq }) => seq % engagements).values()) {
        const inTime = each.filter(({ parked }) => !parked).map(({ seq }) => seq);
        assert.deepEqual(
          inTime,
          inTime.toSorted((a, b) => a - b),
        );
      }
    },
  );
  fc.assert(property, { numRuns: 500 });
});

test('a lane that is blocked while its first delivery is in flight continues after it, or waits if it fails', () => {
  const lanes = new Lanes();
  const head = delivery(1, 'a', { attempts: 1, isDelayed: true });
  lanes.add(head);
  takeAll(lanes);
  lanes.clear();
  lanes.block('webhook', 'a');
  lanes.wait(head);
  assert.equal(lanes.blockedCount, 1);
  lanes.add(head);
  assert.deepEqual(takeAll(lanes), [1]);
  lanes.clear();
  lanes.block('webhook', 'a');
  assert.equal(lanes.pass(head), true);
  assert.equal(lanes.blockedCount, 0);
  assert.equal(lanes.resume({ webhookId: 'webhook', engagementId: 'a' }, [delivery(2, 'a')], false), true);
  assert.deepEqual(takeAll(lanes), [2]);
});

test('a lane blocked by a requeued delivery waits for it, even if another delivery was in flight', () => {
  const lanes = new Lanes();
  lanes.add(delivery(5, 'a'));
  takeAll(lanes);
  lanes.clear();
  lanes.block('webhook', 'a');
  const head = delivery(1, 'a', { attempts: 1, isDelayed: true });
  assert.equal(lanes.add(head), false);
  assert.equal(lanes.pass(delivery(5, 'a')), false);
  assert.equal(lanes.add(head), true);
  assert.deepEqual(takeAll(lanes), [1]);
});

test('a lane of which the first batch was empty still waits for the rest', () => {
  const lanes = new Lanes();
  const name = { webhookId: 'webhook', engagementId: 'a' };
  lanes.add(delivery(1, 'a'));
  takeAll(lanes);
  lanes.clear();
  assert.equal(lanes.pass(delivery(1, 'a')), true);
  assert.equal(lanes.resume(name, [], true), true);
  // A later delivery does not overtake those that are still to be read.
  assert.equal(lanes.add(delivery(9, 'a')), false);
  assert.equal(lanes.resume(name, [delivery(2, 'a')], false), true);
  assert.deepEqual(takeAll(lanes), [2]);
});

test('a delivery that is not in flight can neither succeed nor fail', () => {
  const lanes = new Lanes();
  lanes.block('webhook', 'a');
  for (const engagement of ['a', 'b']) {
    assert.throws(() => lanes.pass(delivery(1, engagement)), /has no delivery being sent/);
    assert.throws(() => lanes.wait(delivery(1, engagement)), /has no delivery being sent/);
  }
});
