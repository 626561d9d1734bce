import assert from 'node:assert/strict';
import { test } from 'node:test';
import { changesOf, type VisitorFields } from './visitor-changes.ts';

const before: VisitorFields = {
  name: 'Ada',
  email: '',
  phone: '',
  note: 'Likes tea',
  attributes: [
    { name: 'plan', value: 'free' },
    { name: 'city', value: 'Tartu' },
  ],
};

test('only what was changed is sent', () => {
  assert.equal(changesOf(before, { ...before, name: ' Ada ' }), null);
  assert.deepEqual(changesOf(before, { ...before, name: '', email: 'ada@test' }), { name: null, email: 'ada@test' });
});

test('attributes are merged: new, changed, and removed ones', () => {
  const attributes = [
    { name: 'plan', value: 'paid' },
    { name: ' vip ', value: 'yes' },
    { name: '', value: 'nothing' },
  ];
  assert.deepEqual(changesOf(before, { ...before, attributes }), {
    custom_attributes: { plan: 'paid', vip: 'yes', city: null },
    custom_attributes_update_method: 'merge',
  });
});
