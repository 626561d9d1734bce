import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AcceptingClick } from './accepting-click.ts';

test('a click on Accept allows joining once, and starting each device of the accepted call once', () => {
  const click = new AcceptingClick();
  assert.deepEqual([click.consumeJoin(), click.consumeDevices(['audio', 'video'])], [false, []]);
  click.record(['audio', 'video']);
  assert.deepEqual([click.consumeJoin(), click.consumeJoin()], [true, false]);
  assert.deepEqual(
    [click.consumeDevices(['audio']), click.consumeDevices(['audio', 'video']), click.consumeDevices(['video'])],
    [['audio'], ['video'], []],
  );
  click.record(['audio']);
  assert.deepEqual(click.consumeDevices(['video']), [], 'the accepted call has no camera');
  click.clear();
  assert.deepEqual([click.consumeJoin(), click.consumeDevices(['audio'])], [false, []]);
});

test('a click on Accept is valid for ten seconds', (t) => {
  let now = 0;
  t.mock.method(performance, 'now', () => now);
  const click = new AcceptingClick();
  click.record(['audio']);
  now = 9_999;
  assert.equal(click.consumeJoin(), true);
  now = 10_000;
  assert.deepEqual(click.consumeDevices(['audio']), []);
});
