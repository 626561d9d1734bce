import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeContents } from './site-contents.ts';

test('the contents of a site are listed with singular and plural nouns', () => {
  const details = [
    { attribute: '/queues', detail: '1' },
    { attribute: '/visitors', detail: 'more than 10000' },
    { attribute: '/news_of_a_later_version', detail: '2' },
  ];
  assert.deepEqual(describeContents(details), ['1 queue', 'more than 10000 visitors']);
});
