import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answers, ruleOn } from './answers.ts';

const registeredAt = new Date('2026-03-01T12:00:00.000Z');
const before = registeredAt.getTime() - 1;
const after = registeredAt.getTime() + 1;

function rule(status: number, body: unknown) {
  return ruleOn({ status, body: typeof body === 'string' ? body : JSON.stringify(body), registeredAt });
}

test('status 200 means delivered, whatever the body is', () => {
  for (const body of ['', '{}', 'garbage', '{"reason":"BadDeviceToken"}'])
    assert.deepEqual([rule(200, body).verdict, rule(200, body).error], ['delivered', null]);
});

test('a reason counts only with its documented status', () => {
  assert.equal(rule(400, { reason: 'BadDeviceToken' }).verdict, 'ended');
  assert.equal(rule(404, { reason: 'BadDeviceToken' }).verdict, 'refused');
  assert.equal(rule(503, { reason: 'BadDeviceToken' }).verdict, 'failed');
  assert.equal(rule(400, { reason: 'Unregistered', timestamp: after }).verdict, 'refused');
});

test('410 ends the webhook only if Apple invalidated the token after the registration', () => {
  for (const reason of ['Unregistered', 'ExpiredToken', 'SomethingNew']) {
    assert.equal(rule(410, { reason, timestamp: after }).verdict, 'ended');
    for (const timestamp of [registeredAt.getTime(), before, 0, undefined, null, 'soon', String(after)])
      assert.deepEqual(
        [rule(410, { reason, timestamp }).verdict, rule(410, { reason, timestamp }).unavailable],
        ['failed', false],
      );
  }
});

test('an undocumented answer is judged by its status', () => {
  const expected: [number, string, boolean, string][] = [
    [204, 'delivered', false, 'keep'],
    [302, 'failed', false, 'keep'],
    [400, 'refused', false, 'keep'],
    [401, 'failed', true, 'pause'],
    [403, 'failed', true, 'pause'],
    [404, 'refused', false, 'keep'],
    [407, 'failed', true, 'pause'],
    [408, 'failed', false, 'keep'],
    [410, 'failed', false, 'keep'],
    [413, 'refused', false, 'keep'],
    [418, 'refused', false, 'keep'],
    [429, 'failed', false, 'keep'],
    [500, 'failed', true, 'keep'],
    [503, 'failed', true, 'keep'],
    [599, 'failed', true, 'keep'],
  ];
  const bodies = [
    '',
    'null',
    '[]',
    '"x"',
    '7',
    '{"reason":7}',
    '{"reason":"NewReason"}',
    '{"reason":"<b>not one</b>"}',
    '<html>',
    '{"reason":"Bad',
  ];
  for (const [status, verdict, unavailable, credential] of expected)
    for (const body of bodies) {
      const ruling = rule(status, body);
      assert.deepEqual([ruling.verdict, ruling.unavailable, ruling.credential], [verdict, unavailable, credential]);
      if (verdict !== 'delivered')
        assert.match(ruling.error ?? '', new RegExp(`^Apple answered ${status}(?: NewReason)?$`));
    }
});

test('every documented reason has its own rule and explanation', () => {
  const names = answers.map(([status, reason]) => `${status} ${reason}`);
  assert.equal(new Set(names).size, names.length);
  for (const [status, reason, , meaning] of answers)
    assert.equal(rule(status, { reason }).error, `Apple answered ${status} ${reason}: ${meaning}`);
});

test('after a server error of Apple the retry waits for 15 minutes', () => {
  assert.equal(rule(500, { reason: 'InternalServerError' }).retryAfterMs, 900_000);
  assert.equal(rule(503, { reason: 'Shutdown' }).retryAfterMs, null);
  assert.equal(rule(429, { reason: 'TooManyRequests' }).retryAfterMs, null);
});
