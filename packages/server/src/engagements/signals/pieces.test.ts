import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Gatherer, inPieces, pieceBytes, type HeardSignal } from './pieces.ts';

function notesOf(text: string, id = 'id'): string[] {
  return inPieces(text).map((piece, place, all) => `${id} ${place} ${all.length} account visitor me site ${piece}`);
}

function heard(gatherer: Gatherer, notes: readonly string[]): string[] {
  return notes.map((note) => gatherer.take(note)).flatMap((signal: HeardSignal | null) => signal?.text ?? []);
}

test('whatever is cut is put together again, and no piece is too long', () => {
  const long = fc.string({ unit: 'binary', maxLength: 20_000, size: 'max' });
  fc.assert(
    fc.property(fc.array(fc.oneof(long, fc.string({ unit: 'grapheme' })), { maxLength: 4 }), (texts) => {
      // Halves of surrogate pairs are refused at the edge.
      const whole = texts.map((text) => text.toWellFormed());
      const notes = whole.flatMap((text, index) => notesOf(text, String(index)));
      for (const note of notes) assert.ok(Buffer.byteLength(note) <= pieceBytes + 250);
      assert.deepEqual(heard(new Gatherer(), notes), whole);
    }),
    { numRuns: 30 },
  );
});

test('it says who is to hear it', () => {
  const signal = new Gatherer().take('id 0 1 account operator me site {"a": "b c"}');
  assert.deepEqual(signal, {
    accountId: 'account',
    to: { kind: 'operator', id: 'me', siteId: 'site' },
    text: '{"a": "b c"}',
  });
});

test('a signal of which a piece is missing is given up, and those before and after are heard', () => {
  const three = notesOf('x'.repeat(2 * pieceBytes + 1), 'long');
  assert.equal(three.length, 3);
  for (const missing of [0, 1, 2]) {
    const rest = three.filter((_, place) => place !== missing);
    assert.deepEqual(heard(new Gatherer(), [...notesOf('a', '1'), ...rest, ...notesOf('b', '2')]), ['a', 'b']);
  }
  const gatherer = new Gatherer();
  gatherer.take(three[0] ?? '');
  gatherer.forget();
  assert.deepEqual(heard(gatherer, three.slice(1)), []);
});
