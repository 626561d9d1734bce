import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isOutdated, mergeUpgrades } from './overtaken-reads.ts';

const [earlier, later] = ['2026-01-01T10:00:00.000Z', '2026-01-01T10:00:01.000Z'];

test('a read that is older than the last feed item is outdated', () => {
  const active = (at: string) => ({ state: 'active', updated_at: at }) as const;
  assert.equal(isOutdated(active(earlier), null), false);
  assert.equal(isOutdated(active(earlier), active(later)), true);
  assert.equal(isOutdated(active(later), active(earlier)), false);
  assert.equal(isOutdated(active(earlier), active(earlier)), false);
});

test('an ended engagement stays ended, also when the clock of the server was set back', () => {
  assert.equal(isOutdated({ state: 'active', updated_at: later }, { state: 'ended', updated_at: earlier }), true);
  assert.equal(isOutdated({ state: 'ended', updated_at: earlier }, { state: 'ended', updated_at: later }), false);
});

test('a request that arrived during a read is kept, and an answered request stays answered', () => {
  const request = (id: string, state: 'pending' | 'declined') => ({ id, state });
  const [pending, declined] = [request('new', 'pending'), request('old', 'declined')];
  assert.deepEqual(mergeUpgrades([pending], []), [pending]);
  assert.deepEqual(mergeUpgrades([pending, declined], [request('old', 'pending')]), [pending, declined]);
  assert.deepEqual(mergeUpgrades([request('old', 'pending')], [declined]), [declined]);
});
