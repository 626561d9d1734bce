import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { SignalAssembler, splitIntoPieces, pieceBytes, type ReceivedSignal } from './pieces.ts';

function notificationsOf(text: string, id = 'id'): string[] {
  return splitIntoPieces(text).map(
    (piece, index, all) => `${id} ${index} ${all.length} account visitor me site ${piece}`,
  );
}

function received(assembler: SignalAssembler, notifications: readonly string[]): string[] {
  return notifications
    .map((payload) => assembler.take(payload))
    .flatMap((signal: ReceivedSignal | null) => signal?.text ?? []);
}

test('a signal that was split is reassembled, and no piece exceeds the limit of a notification', () => {
  const long = fc.string({ unit: 'binary', maxLength: 20_000, size: 'max' });
  fc.assert(
    fc.property(fc.array(fc.oneof(long, fc.string({ unit: 'grapheme' })), { maxLength: 4 }), (texts) => {
      // The API refuses lone surrogates.
      const whole = texts.map((text) => text.toWellFormed());
      const notifications = whole.flatMap((text, index) => notificationsOf(text, String(index)));
      for (const payload of notifications) assert.ok(Buffer.byteLength(payload) <= pieceBytes + 250);
      assert.deepEqual(received(new SignalAssembler(), notifications), whole);
    }),
    { numRuns: 30 },
  );
});

test('a received signal names its recipient', () => {
  const signal = new SignalAssembler().take('id 0 1 account operator me site {"a": "b c"}');
  assert.deepEqual(signal, {
    accountId: 'account',
    to: { kind: 'operator', id: 'me', siteId: 'site' },
    text: '{"a": "b c"}',
  });
});

test('a signal with a missing piece is dropped, and the signals before and after it arrive', () => {
  const three = notificationsOf('x'.repeat(2 * pieceBytes + 1), 'long');
  assert.equal(three.length, 3);
  for (const missing of [0, 1, 2]) {
    const rest = three.filter((_, index) => index !== missing);
    assert.deepEqual(
      received(new SignalAssembler(), [...notificationsOf('a', '1'), ...rest, ...notificationsOf('b', '2')]),
      ['a', 'b'],
    );
  }
  const assembler = new SignalAssembler();
  assembler.take(three[0] ?? '');
  assembler.reset();
  assert.deepEqual(received(assembler, three.slice(1)), []);
});
