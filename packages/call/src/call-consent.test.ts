import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CallConsent } from './call-consent.ts';

for (const how of ['accepted', 'requested'] as const)
  test(`a click that ${how} a call allows joining once, and starting each device of that call once`, () => {
    const consent = new CallConsent();
    assert.deepEqual([consent.consumeJoin(), consent.consumeDevices(['audio', 'video'])], [false, []]);
    consent.record(how, ['audio', 'video']);
    assert.deepEqual([consent.consumeJoin(), consent.consumeJoin()], [true, false]);
    assert.deepEqual(
      [
        consent.consumeDevices(['audio']),
        consent.consumeDevices(['audio', 'video']),
        consent.consumeDevices(['video']),
      ],
      [['audio'], ['video'], []],
    );
    consent.record(how, ['audio']);
    assert.deepEqual(consent.consumeDevices(['video']), [], 'the call has no camera');
    consent.clear();
    assert.deepEqual([consent.consumeJoin(), consent.consumeDevices(['audio'])], [false, []]);
  });

test('a click on Accept is valid for ten seconds', (t) => {
  let now = 0;
  t.mock.method(performance, 'now', () => now);
  const consent = new CallConsent();
  consent.record('accepted', ['audio']);
  now = 9_999;
  assert.equal(consent.consumeJoin(), true);
  now = 10_000;
  assert.deepEqual(consent.consumeDevices(['audio']), []);
  consent.record('accepted', ['audio']);
  now = 20_000;
  assert.equal(consent.consumeJoin(), false);
});

test('a requested call starts devices for two minutes, and is joined without them later', (t) => {
  let now = 0;
  t.mock.method(performance, 'now', () => now);
  const consent = new CallConsent();
  consent.record('requested', ['audio', 'video']);
  now = 119_999;
  assert.deepEqual(consent.consumeDevices(['audio']), ['audio']);
  now = 3_600_000;
  assert.deepEqual([consent.consumeJoin(), consent.consumeDevices(['video'])], [true, []]);
});
