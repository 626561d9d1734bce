import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Webhook } from '@usher/sdk/api-types';
import { alarmsOf } from './alarms.ts';

const now = Date.parse('2026-11-16T12:00:00Z');
const failing = new Date(now - 60_000).toISOString();

test('webhooks that fail or that Usher has disabled need attention; those that a person disabled do not', () => {
  const webhooks = [
    { id: 'working', enabled: true, failing_since: null, disabled_because: null },
    { id: 'failing', enabled: true, failing_since: failing, disabled_because: null },
    { id: 'one failure', enabled: true, failing_since: new Date(now - 1_000).toISOString(), disabled_because: null },
    { id: 'gone', enabled: false, failing_since: null, disabled_because: 'gone' },
    { id: 'asked', enabled: false, failing_since: null, disabled_because: 'asked' },
  ] as Webhook[];
  assert.deepEqual(
    alarmsOf(webhooks, now).map(({ id }) => id),
    ['failing', 'gone'],
  );
});
