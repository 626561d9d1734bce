import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { feedItems } from './catalogue.ts';

test('openapi.json names every item of the live feed', () => {
  const api = JSON.parse(readFileSync('openapi.json', 'utf8')) as {
    paths: { '/feed': { get: { description: string } } };
  };
  const { description } = api.paths['/feed'].get;
  assert.deepEqual(
    Object.keys(feedItems).filter((type) => !description.includes(`\`${type}\``)),
    [],
  );
});
