import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addressOf, type Operation, type Parameter } from './operations.ts';
import { wordsOf } from './words.ts';

const list = { name: 'site_ids[]', in: 'query', schema: { type: 'array' } };
const operation: Operation = {
  method: 'GET',
  path: '/sites/{site_id}/visitors/{visitor_id}',
  parameters: [
    { name: 'site_id', in: 'path', required: true },
    { name: 'visitor_id', in: 'path', required: true },
    list,
    { name: 'search', in: 'query' },
    { name: 'If-Match', in: 'header' },
  ],
  body: null,
};

test('an address has escaped parameters, lists in brackets, and neither empty parameters nor headers', () => {
  const values: Record<string, string> = {
    site_id: ' a/b ',
    visitor_id: 'c?',
    'site_ids[]': 'one, two',
    'If-Match': '"1"',
  };
  const address = addressOf(operation, ({ name }: Parameter) => values[name] ?? '');
  assert.equal(address, '/sites/a%2Fb/visitors/c%3F?site_ids%5B%5D=one&site_ids%5B%5D=two');
});

test('a search has words in lower case', () => {
  assert.deepEqual(wordsOf('  Create   queue '), ['create', 'queue']);
  assert.deepEqual(wordsOf(' '), []);
});
