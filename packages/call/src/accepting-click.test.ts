import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AcceptingClick } from './accepting-click.ts';

test('a click on Accept counts for one joining, and for one start of each device that the accepted call needs', () => {
  const click = new AcceptingClick();
  assert.deepEqual([click.takeJoining(), click.take(['audio', 'video'])], [false, []]);
  click.note(['audio', 'video']);
  assert.deepEqual([click.takeJoining(), click.takeJoining()], [true, false]);
  assert.deepEqual(
    [click.take(['audio']), click.take(['audio', 'video']), click.take(['video'])],
    [['audio'], ['video'], []],
  );
  click.note(['audio']);
  assert.deepEqual(click.take(['video']), [], 'a call without a camera was accepted');
  click.forget();
  assert.deepEqual([click.takeJoining(), click.take(['audio'])], [false, []]);
});

test('a click on Accept counts for ten seconds', (t) => {
  let now = 0;
  t.mock.method(performance, 'now', () => now);
  const click = new AcceptingClick();
  click.note(['audio']);
  now = 9_999;
  assert.equal(click.takeJoining(), true);
  now = 10_000;
  assert.deepEqual(click.take(['audio']), []);
});
