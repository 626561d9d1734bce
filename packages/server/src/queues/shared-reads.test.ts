import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SharedReads } from './shared-reads.ts';

/** Reads that end when the test says so. `version` is what there is to read. */
function makeReads() {
  const reads = new SharedReads<string, number, number>();
  const running: { readonly version: number; readonly end: () => void; readonly fail: (error: Error) => void }[] = [];
  const world = { version: 1 };
  const read = async (key = 'site'): Promise<number> => {
    const { version } = world;
    return reads.read(key, {
      isFresh: (begun) => begun === version,
      begin: () => world.version,
      run: async (begun) => {
        const { promise, resolve, reject } = Promise.withResolvers<number>();
        running.push({ version: begun, end: () => resolve(begun), fail: reject });
        return promise;
      },
    });
  };
  return { read, running, world };
}

const settle = async (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

test('calls share the read under way', async () => {
  const { read, running } = makeReads();
  const calls = Array.from({ length: 20 }, async () => read());
  running[0]?.end();
  assert.deepEqual(
    await Promise.all(calls),
    Array.from({ length: 20 }, () => 1),
  );
  assert.equal(running.length, 1);
});

test('calls after a change share one read that begins after it, when the read under way has ended', async () => {
  const { read, running, world } = makeReads();
  const first = read();
  world.version = 2;
  const second = [read(), read()];
  world.version = 3;
  const third = [read(), read()];
  await settle();
  assert.equal(running.length, 1, 'one read at a time');
  running[0]?.end();
  assert.equal(await first, 1);
  await settle();
  running[1]?.end();
  assert.deepEqual(await Promise.all([...second, ...third]), [3, 3, 3, 3]);
  assert.equal(running.length, 2);
});

test('a read that fails is reported to its own callers, and the next one runs', async () => {
  const { read, running, world } = makeReads();
  const first = read();
  world.version = 2;
  const second = read();
  running[0]?.fail(new Error('no connection'));
  await assert.rejects(first, /no connection/);
  await settle();
  running[1]?.end();
  assert.equal(await second, 2);
  const third = read();
  assert.equal(running.length, 3, 'nothing is kept of reads that have ended');
  running[2]?.end();
  assert.equal(await third, 2);
});

test('reads of different keys do not wait for each other', async () => {
  const { read, running } = makeReads();
  const calls = [read('a'), read('b')];
  assert.equal(running.length, 2);
  for (const { end } of running) end();
  assert.deepEqual(await Promise.all(calls), [1, 1]);
});
