import assert from 'node:assert/strict';
import { test } from 'node:test';
import { visitorLabel } from '../pages/board/labels.ts';
import { visitorName } from './visitor-name.ts';

const id = '0b5c7c4e-5d0c-4f37-9c6a-2f1f9d1f6a11';

test('a visitor without a name has the same label on the desk and on the board', () => {
  assert.equal(visitorName({ name: 'Ada', email: 'ada@test.example', phone: null }, id), 'Ada');
  assert.equal(visitorName({ name: '', email: 'ada@test.example', phone: null }, id), 'ada@test.example');
  assert.equal(visitorName(undefined, id), 'Visitor 6a11');
  assert.equal(visitorLabel(null, id), 'Visitor 6a11');
});
