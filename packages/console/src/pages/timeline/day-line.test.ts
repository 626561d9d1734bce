import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PresenceInterval } from '@usher/sdk/api-types';
import { linesOf, pathOf } from './day-line.ts';

const interval = (fields: Partial<PresenceInterval>): PresenceInterval => ({
  operator_id: 'one',
  type: 'chat',
  media: ['text'],
  reason: null,
  started_at: new Date(0).toISOString(),
  ended_at: null,
  ...fields,
});
const at = (seconds: number): string => new Date(seconds * 1_000).toISOString();
const day = { from: 100_000, to: 200_000, now: 150_000 };

test('intervals are cut at the bounds of the day and at now, and their seconds add up', () => {
  const [line, ...others] = linesOf(
    [
      interval({ started_at: at(140), type: 'Lunch', reason: 'Lunch' }),
      interval({ started_at: at(50), ended_at: at(120), type: 'video' }),
      interval({ started_at: at(120), ended_at: at(140), type: 'engaged' }),
      interval({ operator_id: 'two', started_at: at(10), ended_at: at(90) }),
    ],
    day,
  );
  assert.deepEqual(others, []);
  assert.deepEqual(
    line?.pieces.map(({ label, from, to }) => [label, from, to]),
    [
      ['Available: video', 100_000, 120_000],
      ['In a conversation', 120_000, 140_000],
      ['Away: Lunch', 140_000, 150_000],
    ],
  );
  assert.deepEqual(line?.seconds, { engaged: 20, available: 20, away: 10, online: 50 });
});

test('a reason that equals the name of a state is shown as a reason', () => {
  for (const reason of ['engaged', 'video', 'audio', 'chat', 'away', 'constructor']) {
    const [line] = linesOf([interval({ started_at: at(100), type: 'away', reason })], day);
    assert.deepEqual([line?.pieces[0]?.kind, line?.pieces[0]?.label], ['away', `Away: ${reason}`]);
  }
});

test('an operator who is away with a reason but in a conversation counts as in a conversation', () => {
  const [line] = linesOf([interval({ started_at: at(100), type: 'engaged', reason: 'Lunch' })], day);
  assert.equal(line?.pieces[0]?.kind, 'engaged');
});

test('all intervals of a state are one SVG path', () => {
  const [line] = linesOf(
    [interval({ started_at: at(110), ended_at: at(120) }), interval({ started_at: at(130), ended_at: at(131) })],
    day,
  );
  assert.equal(pathOf(line?.pieces ?? [], 'available', day.from), 'M10000 0h10000v1h-10000zM30000 0h1000v1h-1000z');
  assert.equal(pathOf(line?.pieces ?? [], 'away', day.from), '');
});
