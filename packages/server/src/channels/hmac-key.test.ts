import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { HmacKey } from './hmac-key.ts';

function expected(key: Buffer, head: string, body: string | Buffer): string {
  return createHmac('sha256', key).update(head).update(body).digest('base64');
}

const bytes = (maxLength: number): fc.Arbitrary<Buffer> =>
  fc.uint8Array({ maxLength }).map((array) => Buffer.from(array));
/** Any text, also with lone surrogates, which are replaced in UTF-8. */
const texts = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ unit: fc.constantFrom('a', 'õ', '你', '👋', '\ud83d') }),
);

test('signatures equal those of createHmac', () => {
  fc.assert(
    fc.property(bytes(200), fc.string(), fc.oneof(texts, bytes(300)), (key, head, body) => {
      assert.equal(new HmacKey(key).sign(head, body), expected(key, head, body));
    }),
  );
});

test('signatures equal those of createHmac around the sizes of a block and of the shared buffer', () => {
  for (const keyBytes of [0, 1, 31, 32, 63, 64, 65, 200]) {
    const raw = Buffer.alloc(keyBytes, 'key');
    const key = new HmacKey(raw);
    for (const unit of ['a', 'õ', '你', '👋'])
      for (const length of [0, 1, 55, 56, 63, 64, 65, 4_998, 4_999, 5_000, 5_001, 20_000, 260_000]) {
        const body = unit.repeat(Math.ceil(length / unit.length)).slice(0, length);
        assert.equal(key.sign('.', body), expected(raw, '.', body), `${keyBytes} ${unit} ${length}`);
        assert.equal(key.sign('.', Buffer.from(body)), expected(raw, '.', body), `${keyBytes} ${unit} ${length}`);
      }
  }
});

test('a key can sign again after a longer message', () => {
  const raw = Buffer.from('0123456789');
  const key = new HmacKey(raw);
  for (const body of ['a long message', 'short', '']) assert.equal(key.sign('', body), expected(raw, '', body));
});

test('a key keeps no more memory than its bytes', async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  /** V8 frees the memory of buffers on another thread, some time after the collection. */
  const measure = async (isEnough: (bytes: number) => boolean): Promise<number> => {
    let least = Infinity;
    for (let tries = 0; tries < 50 && !isEnough(least); tries += 1) {
      collect();
      await setTimeout(10);
      least = Math.min(least, process.memoryUsage().arrayBuffers);
    }
    return least;
  };
  const before = await measure(() => false);
  const keys = Array.from({ length: 100 }, () => {
    // Other work uses up what Node shares among small buffers.
    for (let count = 0; count < 3; count += 1) Buffer.from('x'.repeat(30_000));
    return new HmacKey(Buffer.alloc(32));
  });
  const bytesPerKey = (bytes: number): number => (bytes - before) / keys.length;
  const kept = bytesPerKey(await measure((bytes) => bytesPerKey(bytes) < 1_000));
  assert.ok(kept < 1_000, `${kept} bytes`);
});
