import assert from 'node:assert/strict';
import { test } from 'node:test';
import { maxOfferTimeoutSec } from './limits.ts';

test('offers end before webhooks that came with them can be forgotten', () => {
  // A webhook that a request brought along is kept for a day and the retention, which is a day at least (webhooks/retention.ts).
  assert.ok(maxOfferTimeoutSec <= 86_400);
});
