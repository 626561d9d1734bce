import assert from 'node:assert/strict';
import { test } from 'node:test';
import { schemaRows } from './schema-rows.ts';

test('a schema becomes a tree of fields with types and optional markers', () => {
  const rows = schemaRows({
    type: 'object',
    required: ['event_type', 'about'],
    properties: {
      event_type: { const: 'engagement.start' },
      at: { type: ['string', 'null'], format: 'date-time', description: 'When' },
      about: {
        anyOf: [
          { type: 'object', required: ['id'], properties: { id: { type: 'string', format: 'uuid' } } },
          { type: 'object', properties: { reason: { enum: ['a', 'b'] } } },
        ],
      },
      tags: { type: 'array', items: { type: 'object', properties: { n: { type: 'integer' } } } },
    },
  });
  assert.deepEqual(
    rows.map(({ depth, name, type, required }) => [depth, name, type, required]),
    [
      [0, 'event_type', '"engagement.start"', true],
      [0, 'at', 'date-time | null', false],
      [0, 'about', 'object', true],
      [1, 'variant 1 of 2', 'object', true],
      [2, 'id', 'uuid', true],
      [1, 'variant 2 of 2', 'object', true],
      [2, 'reason', '"a" | "b"', false],
      [0, 'tags', 'list of object', false],
      [1, 'n', 'integer', false],
    ],
  );
  assert.equal(new Set(rows.map(({ path }) => path)).size, rows.length);
  assert.deepEqual(schemaRows({}), []);
});
