import assert from 'node:assert/strict';
import { test } from 'node:test';
import { initialsOf } from './initials.ts';

test('initials are the first letters of the first and the last word', () => {
  const names = { Ann: 'A', 'ada king  lovelace': 'AL', ' Zoë Õun ': 'ZÕ', '𝒜nn 👩‍🚒': '𝒜👩', '': '' };
  for (const [name, initials] of Object.entries(names)) assert.equal(initialsOf(name), initials);
});
