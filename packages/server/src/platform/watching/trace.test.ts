import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readTrace } from './trace.ts';

const traceId = '0af7651916cd43dd8448eb211c80319c';
const parentId = 'b7ad6b7169203331';

test('a valid traceparent is read; of a later version only the fields of the first one are used', () => {
  const traceparent = `00-${traceId}-${parentId}-01`;
  assert.deepEqual(readTrace(traceparent), { traceparent, tracestate: null, traceId, parentId, isSampled: true });
  assert.deepEqual(readTrace(`cc-${traceId}-${parentId}-01-what-the-future-adds`), {
    traceparent,
    tracestate: null,
    traceId,
    parentId,
    isSampled: true,
  });
  assert.equal(readTrace(`00-${traceId}-${parentId}-02`)?.isSampled, false);
});

test('a tracestate belongs to a valid traceparent, and an invalid one leaves the traceparent valid', () => {
  const traceparent = `00-${traceId}-${parentId}-01`;
  assert.equal(readTrace(traceparent, 'a=1,b=2')?.tracestate, 'a=1,b=2');
  assert.equal(readTrace(traceparent, 'A=1')?.tracestate, null);
  assert.equal(readTrace('00-nonsense', 'a=1'), null);
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
    assert.equal(readTrace(invalid), null, String(invalid));
});
