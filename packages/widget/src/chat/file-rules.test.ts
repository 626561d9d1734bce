import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeWrongType, refusalOf } from './file-rules.ts';

const contentTypes = ['image/*', 'application/pdf', 'text/plain', 'text/csv', 'application/vnd.ms-excel'];
const rules = { contentTypes, maxBytes: 25 * 1024 * 1024 };

test('a file that is empty or too large is refused before it is uploaded', () => {
  assert.equal(refusalOf({ size: 1 }, rules), null);
  assert.equal(refusalOf({ size: rules.maxBytes }, rules), null);
  assert.equal(refusalOf({ size: 0 }, rules), 'This file is empty.');
  assert.equal(refusalOf({ size: rules.maxBytes + 1 }, rules), 'This file is too large. The limit is 25 MB.');
});

test('visitors see the common names of the file types that they can send', () => {
  assert.equal(
    describeWrongType(rules),
    "This type of file can't be sent here. You can send images, PDF, text files, and CSV.",
  );
  assert.match(describeWrongType({ ...rules, contentTypes: ['image/webp'] }), / You can send WebP\.$/);
  assert.equal(describeWrongType({ ...rules, contentTypes: ['*/*'] }), "This type of file can't be sent here.");
});
