import assert from 'node:assert/strict';
import { test } from 'node:test';
import { maxOfferTimeoutSec } from './limits.ts';

test('an offer times out before its attached webhooks are deleted', () => {
  // An attached webhook is kept for a day plus the retention, which is at least a day (webhooks/retention.ts).
  assert.ok(maxOfferTimeoutSec <= 86_400);
});
