import assert from 'node:assert/strict';
import { test } from 'node:test';
import { renderSpan } from './otlp-span.ts';

const ids = { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16), parentId: null, tracestate: null };
const times = { startMs: 1_544_712_660_000.25, endMs: 1_544_712_661_000.003_9 };

test('a span has the JSON form of OTLP', () => {
  const attributes = { text: 'x', count: 3, list: ['y', 'z'], absent: undefined };
  assert.deepEqual(JSON.parse(renderSpan(ids, times, { name: 'n', kind: 'server', attributes })), {
    traceId: 'a'.repeat(32),
    spanId: 'b'.repeat(16),
    name: 'n',
    kind: 2,
    startTimeUnixNano: '1544712660000250000',
    endTimeUnixNano: '1544712661000003906',
    attributes: [
      { key: 'text', value: { stringValue: 'x' } },
      { key: 'count', value: { intValue: '3' } },
      { key: 'list', value: { arrayValue: { values: [{ stringValue: 'y' }, { stringValue: 'z' }] } } },
    ],
  });
});

test('parent, error and links are there if a span has them, and links are limited', () => {
  const links = Array.from({ length: 130 }, () => `00-${'c'.repeat(32)}-${'d'.repeat(16)}-01`);
  const description = { name: 'n', kind: 'internal', attributes: {}, links, errorType: 'timeout' } as const;
  const span = JSON.parse(renderSpan({ ...ids, parentId: 'e'.repeat(16), tracestate: 'a=1' }, times, description));
  assert.equal(span.parentSpanId, 'e'.repeat(16));
  assert.equal(span.traceState, 'a=1');
  assert.deepEqual(span.status, { code: 2 });
  assert.deepEqual(span.attributes, [{ key: 'error.type', value: { stringValue: 'timeout' } }]);
  assert.deepEqual([span.links.length, span.droppedLinksCount], [128, 2]);
  assert.deepEqual(span.links[0], { traceId: 'c'.repeat(32), spanId: 'd'.repeat(16) });
});
