import assert from 'node:assert/strict';
import { test } from 'node:test';
import { blocksOf, type Block } from './sse.ts';

const encode = (text: string): Uint8Array => new TextEncoder().encode(text);

async function* stream(chunks: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* chunks;
}

async function read(...chunks: Uint8Array[]): Promise<Block[]> {
  return Array.fromAsync(blocksOf(stream(chunks)));
}

const texts = ['id: 1\nevent: a\ndata: {"õ":"👋"}\n\n', ': \nid: 2\n\n', 'id: 3\nevent: b\ndata: x\ndata:  y\n\n'];
const blocks: Block[] = [
  { id: '1', type: 'a', data: '{"õ":"👋"}' },
  { id: '2', type: 'message', data: null },
  { id: '3', type: 'b', data: 'x\n y' },
];

test('blocks do not depend on how the stream is split into chunks', async () => {
  const bytes = encode(texts.join(''));
  assert.deepEqual(await read(bytes), blocks);
  assert.deepEqual(await read(encode(texts.join('').replaceAll('\n', '\r\n'))), blocks);
  assert.deepEqual(await read(...Array.from(bytes, (byte) => Uint8Array.of(byte))), blocks);
});

test('an incomplete block is dropped', async () => {
  const bytes = encode(texts.join(''));
  const ends = texts.map((_, index) => encode(texts.slice(0, index + 1).join('')).length);
  for (let length = 0; length <= bytes.length; length += 1) {
    const whole = ends.filter((end) => end <= length).length;
    assert.deepEqual(await read(bytes.subarray(0, length)), blocks.slice(0, whole), `${length}`);
  }
});

test('a block that does not end is an error and does not use up the memory', async () => {
  const chunk = encode('x'.repeat(1024 * 1024));
  await assert.rejects(read(...Array.from({ length: 17 }, () => chunk)), /does not end/);
});
