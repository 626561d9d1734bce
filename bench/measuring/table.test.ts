import assert from 'node:assert/strict';
import test from 'node:test';
import { table } from './table.ts';

test('the figures of another checkout have a column: its ratio, or the value if there is no peer', () => {
  const rounds = { ours: [], peer: [] };
  const commit = 'abc';
  const text = table({
    read: {
      unit: '/s',
      ours: 60,
      peer: 100,
      ratio: 0.6,
      target: 0.7,
      reached: false,
      before: { commit, ours: 40, ratio: 0.4 },
      rounds,
    },
    start: {
      unit: 's',
      ours: 1,
      peer: null,
      ratio: null,
      target: 2,
      reached: true,
      before: { commit, ours: 3, ratio: null },
      rounds,
    },
    added: { unit: 's', ours: 1, peer: null, ratio: null, target: 2, reached: true, rounds },
  });
  assert.deepEqual(text.split('\n'), [
    'measure  unit  ours  peer/limit  before  ratio  target  reached',
    '-------  ----  ----  ----------  ------  -----  ------  -------',
    'read     /s      60         100    0.40   0.60  >= 0.7  NO',
    'start    s        1           2       3           <= 2  yes',
    'added    s        1           2                   <= 2  yes',
  ]);
});

test('columns are aligned, a limit is in the column of the peer, and a miss is shown as NO', () => {
  const rounds = { ours: [], peer: [] };
  const text = table({
    'authenticated read': {
      unit: 'requests/s',
      ours: 12_345.6,
      peer: 17_000,
      ratio: 0.7262,
      target: 0.6,
      reached: true,
      rounds,
    },
    'message, 4 processes': {
      unit: 'ms',
      ours: 1.2,
      peer: 1,
      ratio: 1.2,
      target: 1.15,
      lowerIsBetter: true,
      reached: false,
      rounds,
    },
    start: { unit: 's', ours: 2.345, peer: null, ratio: null, target: 2, reached: false, rounds },
  });
  assert.deepEqual(text.split('\n'), [
    'measure               unit          ours  peer/limit  ratio   target  reached',
    '--------------------  ----------  ------  ----------  -----  -------  -------',
    'authenticated read    requests/s  12,346      17,000   0.73   >= 0.6  yes',
    'message, 4 processes  ms             1.2           1   1.20  <= 1.15  NO',
    'start                 s             2.35           2            <= 2  NO',
  ]);
});
