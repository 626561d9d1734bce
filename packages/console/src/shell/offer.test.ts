import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EngagementRequest, TransferRequest } from '@usher/sdk/api-types';
import { offersAfterItem, offersAfterRead, offerOf, secondsLeft, type Offer } from './offer.ts';

const request = {
  id: 'r1',
  origin: 'queue',
  site_id: 'site',
  visitor_id: 'visitor',
  operator_id: 'me',
  media: 'text',
  state: 'pending',
  timeout: 30,
  queue_id: 'queue',
  created_at: '2026-01-01T10:00:00.000Z',
} as EngagementRequest;
const transfer = { ...request, id: 't1', origin: undefined, message: 'Please' } as unknown as TransferRequest;
const state = (more: object): { type: string; data: unknown } => ({
  type: 'engagement_request.state',
  data: { ...request, ...more },
});
const ids = (offers: readonly Offer[]): string[] => offers.map(({ id }) => id);

test('an offer appears, and disappears when anyone answers it', () => {
  const one = offersAfterItem([], state({}), 'me');
  const two = offersAfterItem(one, state({ id: 'r0', created_at: '2026-01-01T09:59:59.000Z' }), 'me');
  assert.deepEqual(ids(two), ['r0', 'r1']);
  assert.deepEqual(ids(offersAfterItem(two, state({ id: 'r0' }), 'me')), ['r0', 'r1'].toSorted());
  assert.deepEqual(ids(offersAfterItem(two, state({ id: 'r0', state: 'failed' }), 'me')), ['r1']);
  assert.equal(offersAfterItem(two, state({ id: 'other', state: 'accepted' }), 'me'), two);
});

test('requests to other operators and requests of this operator are not offers', () => {
  assert.equal(offerOf('engagement', { ...request, operator_id: 'you' }, 'me'), null);
  assert.equal(offerOf('engagement', { ...request, origin: 'operator' }, 'me'), null);
  assert.equal(offerOf('engagement', { ...request, origin: 'visitor' }, 'me')?.id, 'r1');
  assert.equal(offerOf('transfer', transfer, 'me')?.message, 'Please');
});

test('a read does not restore offers that were answered during the read', () => {
  const read = { engagement: [request], transfer: [transfer] };
  assert.deepEqual(ids(offersAfterRead(read, 'me', [])), ['r1', 't1']);
  assert.deepEqual(ids(offersAfterRead(read, 'me', [state({ state: 'accepted' })])), ['t1']);
  assert.deepEqual(ids(offersAfterRead({ engagement: [], transfer: [] }, 'me', [state({})])), ['r1']);
});

test('the countdown uses the clock of the server', () => {
  const offer = offerOf('engagement', request, 'me');
  assert.ok(offer);
  const began = Date.parse(request.created_at);
  assert.equal(secondsLeft(offer, began + 10_000), 20);
  assert.equal(secondsLeft(offer, began + 60_000), 0);
  assert.equal(secondsLeft(offer, began - 5_000), 30);
});
