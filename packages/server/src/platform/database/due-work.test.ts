import assert from 'node:assert/strict';
import { test } from 'node:test';
import pino from 'pino';
import { DueWork } from './due-work.ts';

const log = pino({ level: 'silent' });

async function until(condition: () => boolean): Promise<void> {
  const deadline = Date.now() + 5_000;
  while (!condition()) {
    assert.ok(Date.now() < deadline, 'what was waited for did not come');
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

function taskSource(count: number): { left: number[]; claim: (room: number) => Promise<number[]>; rooms: number[] } {
  const left = Array.from({ length: count }, (_, n) => n);
  const rooms: number[] = [];
  const claim = async (room: number): Promise<number[]> => {
    rooms.push(room);
    return left.splice(0, room);
  };
  return { left, claim, rooms };
}

test('all tasks run, a limited number at a time, and the next starts as soon as one has finished', async () => {
  const { claim, rooms } = taskSource(20);
  const done: number[] = [];
  let most = 0;
  const work = new DueWork<number>({
    what: 'test',
    atOnce: 3,
    claim,
    log,
    async handle(n) {
      await new Promise((resolve) => setTimeout(resolve, n % 3));
      most = Math.max(most, [...work.running].length);
      done.push(n);
    },
  });
  work.wake();
  await until(() => done.length === 20);
  await work.stop();
  assert.equal(most, 3);
  assert.ok(rooms.every((room) => room > 0 && room <= 3));
  assert.deepEqual(
    done.toSorted((a, b) => a - b),
    Array.from({ length: 20 }, (_, n) => n),
  );
});

test('a failed task or a failed claim does not stop the other tasks', async () => {
  const { left, claim } = taskSource(4);
  const done: number[] = [];
  let claims = 0;
  const work = new DueWork<number>({
    what: 'test',
    atOnce: 1,
    async claim(room) {
      claims += 1;
      if (claims === 2) throw new Error('the database has hiccups');
      return claim(room);
    },
    log,
    async handle(n) {
      done.push(n);
      if (n === 1) throw new Error('this one is bad');
    },
  });
  work.wake();
  await until(() => done.length === 4);
  assert.deepEqual(done, [0, 1, 2, 3]);
  assert.equal(left.length, 0);
  await work.stop();
});

test('stop claims no more tasks and waits for the running ones', async () => {
  const { left, claim } = taskSource(10);
  const gate = Promise.withResolvers<void>();
  let finished = 0;
  const work = new DueWork<number>({
    what: 'test',
    atOnce: 2,
    claim,
    log,
    async handle() {
      await gate.promise;
      finished += 1;
    },
  });
  work.wake();
  await until(() => left.length === 8);
  const stopping = work.stop();
  work.wake();
  gate.resolve();
  await stopping;
  assert.equal(finished, 2);
  assert.equal(left.length, 8);
});

test('a task that becomes due during a claim is claimed by the next one', async () => {
  const { left, claim } = taskSource(0);
  const done: number[] = [];
  const work = new DueWork<number>({
    what: 'test',
    atOnce: 2,
    async claim(room) {
      const claimed = await claim(room);
      // Committed just after the claim.
      if (done.length === 0 && left.length === 0 && claimed.length === 0) {
        left.push(7);
        work.wake();
      }
      return claimed;
    },
    log,
    async handle(n) {
      done.push(n);
    },
  });
  work.wake();
  await until(() => done.length === 1);
  await work.stop();
});
