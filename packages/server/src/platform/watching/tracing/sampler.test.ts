import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newId } from '../../ids.ts';
import { readTrace } from '../trace.ts';
import { isSampled } from './sampler.ts';

const traceId = '0af7651916cd43dd8448eb211c80319c';
const parent = (flags: string) => readTrace(`00-${traceId}-b7ad6b7169203331-${flags}`);

test('a parent decides if the sampler follows it', () => {
  assert.equal(isSampled({ followsParent: true, ratio: 0 }, traceId, parent('01')), true);
  assert.equal(isSampled({ followsParent: true, ratio: 1 }, traceId, parent('00')), false);
  assert.equal(isSampled({ followsParent: false, ratio: 0 }, traceId, parent('01')), false);
  assert.equal(isSampled({ followsParent: false, ratio: 1 }, traceId, parent('00')), true);
});

test('a ratio of 1 samples every trace and a ratio of 0 none', () => {
  for (const id of ['0'.repeat(32), 'f'.repeat(32), traceId]) {
    assert.equal(isSampled({ followsParent: true, ratio: 1 }, id, null), true);
    assert.equal(isSampled({ followsParent: true, ratio: 0 }, id, null), false);
  }
});

test('about the given share of traces is sampled, and a larger share contains a smaller one', () => {
  const ids = Array.from({ length: 20_000 }, () => `${newId()}${newId()}`.replaceAll('-', '').slice(-32));
  const sampled = (ratio: number) => ids.filter((id) => isSampled({ followsParent: true, ratio }, id, null));
  const [tenth, quarter] = [sampled(0.1), new Set(sampled(0.25))];
  // The standard deviations are 42 and 61.
  assert.ok(Math.abs(tenth.length - 2_000) < 400, `${tenth.length}`);
  assert.ok(Math.abs(quarter.size - 5_000) < 600, `${quarter.size}`);
  assert.ok(tenth.every((id) => quarter.has(id)));
});
