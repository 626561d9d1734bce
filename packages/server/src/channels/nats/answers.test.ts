import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ruleOn, serverErrors, streamErrors } from './answers.ts';

const answered = (body: unknown) =>
  ruleOn({ kind: 'answered', body: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)) }, 'usher');

test('an acknowledgement means delivered, also for a duplicate', () => {
  for (const more of [{}, { duplicate: true }, { domain: 'hub' }]) {
    const { verdict, unavailable, status, error } = answered({ stream: 'S', seq: 7, ...more });
    assert.deepEqual([verdict, unavailable, status, error], ['delivered', false, 200, null]);
  }
});

test('an answer that is not an acknowledgement is a failure', () => {
  for (const body of ['', '\0', '[]', 'null', '"x"', '{', { stream: '', seq: 1 }, { stream: 'S' }, { seq: 1 }]) {
    const { verdict, unavailable, error } = answered(body);
    assert.deepEqual(
      [verdict, unavailable, error],
      ['failed', false, 'the answer is not the acknowledgement of a stream'],
    );
  }
});

test('every listed error of a stream has the effect in the table, and others are retried', () => {
  for (const [code, { verdict, unavailable }, meaning] of streamErrors) {
    const found = answered({ stream: '', seq: 0, error: { code: 503, err_code: code, description: 'so' } });
    assert.deepEqual([found.verdict, found.unavailable, found.status], [verdict, unavailable, 503]);
    assert.equal(found.error, `the server answered “so”: ${meaning}`);
  }
  const full = answered({ error: { code: 503, err_code: 10_077, description: 'maximum messages exceeded' } });
  assert.deepEqual([full.verdict, full.unavailable], ['failed', false]);
  assert.equal(full.error, 'the server answered “maximum messages exceeded”');
  assert.equal(answered({ error: { code: 7e9, description: 'x'.repeat(5_000) } }).status, null);
});

test('every listed error of the server has the effect in the table, and others count against the server', () => {
  for (const [start, { verdict, unavailable }] of serverErrors) {
    const found = ruleOn({ kind: 'refused', error: `${start.toUpperCase()} to "x"` }, 'usher');
    assert.deepEqual([found.verdict, found.unavailable, found.status], [verdict, unavailable, null]);
  }
  const unknown = ruleOn({ kind: 'refused', error: 'Stale Connection' }, 'usher');
  assert.deepEqual([unknown.verdict, unknown.unavailable], ['failed', true]);
});

test('a timeout counts against the destination, a forbidden address does not', () => {
  const late = ruleOn({ kind: 'late', answerMs: 5_000 }, 'usher');
  assert.deepEqual([late.unavailable, late.timedOut, late.error], [true, true, 'no acknowledgement within 5 seconds']);
  assert.equal(ruleOn({ kind: 'forbidden' }, 'usher').unavailable, null);
});
