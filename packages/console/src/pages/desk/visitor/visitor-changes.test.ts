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

test('only changed fields are sent', () => {
  assert.equal(changesOf(before, { ...before, name: ' Ada ' }), null);
  assert.deepEqual(changesOf(before, { ...before, name: '', email: 'ada@test' }), { name: null, email: 'ada@test' });
});

test('added, changed and removed attributes are sent as a merge', () => {
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
