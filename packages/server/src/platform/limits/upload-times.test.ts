import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { UploadTimes } from './upload-times.ts';

interface Begun {
  readonly times: UploadTimes;
  readonly codes: string[];
  readonly pass: (seconds: number) => void;
}

function begin(t: TestContext): Begun {
  t.mock.timers.enable({ apis: ['setTimeout', 'setInterval'] });
  const times = new UploadTimes();
  const codes: string[] = [];
  times.start(({ code }) => codes.push(code));
  t.after(() => times.stop());
  return { times, codes, pass: (seconds) => t.mock.timers.tick(seconds * 1_000) };
}

test('a sender must send 64 KiB in every half minute; earlier bytes do not count', (t) => {
  const { times, codes, pass } = begin(t);
  times.onBytes(10 * 1024 * 1024);
  pass(30);
  times.onBytes(64 * 1024);
  pass(30);
  assert.deepEqual(codes, []);
  times.onBytes(64 * 1024 - 1);
  pass(29);
  assert.deepEqual(codes, []);
  pass(1);
  assert.deepEqual(codes, ['request_timeout']);
});

test('a slow disk is not counted against the sender, and a disk that writes nothing is an error', (t) => {
  const { times, codes, pass } = begin(t);
  times.onBytes(1);
  times.setPaused(true);
  pass(30);
  // Paused into the second window, then resumed.
  times.setPaused(false);
  times.onBytes(1);
  pass(30);
  assert.deepEqual(codes, []);
  times.onBytes(1);
  pass(30);
  assert.deepEqual(codes, ['request_timeout']);
  times.setPaused(true);
  pass(30);
  assert.deepEqual(codes, ['request_timeout', 'storage_unavailable']);
});

test('an upload has ten minutes at most, at any speed', (t) => {
  const { times, codes, pass } = begin(t);
  for (let window = 1; window < 20; window += 1) {
    times.onBytes(1024 * 1024);
    pass(30);
  }
  assert.deepEqual(codes, []);
  times.onBytes(1024 * 1024);
  pass(30);
  assert.deepEqual(codes, ['request_timeout']);
});
