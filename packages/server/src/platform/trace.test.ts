import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readTraceparent } from './trace.ts';

const traceId = '0af7651916cd43dd8448eb211c80319c';
const parentId = 'b7ad6b7169203331';

test('a valid traceparent is read; of a later version only the fields of the first one are used', () => {
  const traceparent = `00-${traceId}-${parentId}-01`;
  assert.deepEqual(readTraceparent(traceparent), { traceparent, traceId, parentId, isSampled: true });
  assert.deepEqual(readTraceparent(`cc-${traceId}-${parentId}-01-what-the-future-adds`), {
    traceparent,
    traceId,
    parentId,
    isSampled: true,
  });
  assert.equal(readTraceparent(`00-${traceId}-${parentId}-02`)?.isSampled, false);
});

test('an invalid traceparent is ignored', () => {
  for (const invalid of [
    undefined,
    '',
    `ff-${traceId}-${parentId}-01`,
    `00-${traceId}-${parentId}-01-more`,
    `00-${'0'.repeat(32)}-${parentId}-01`,
    `00-${traceId}-${'0'.repeat(16)}-01`,
    `00-${traceId.toUpperCase()}-${parentId}-01`,
    `00-${traceId}-${parentId}`,
    `00-${traceId}-${parentId}-01, 00-${traceId}-${parentId}-01`,
    [`00-${traceId}-${parentId}-01`],
  ])
    assert.equal(readTraceparent(invalid), null, String(invalid));
});
