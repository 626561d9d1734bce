import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LogPoint } from '../events/log-point.ts';
import { idOf, positionOf, type Position } from './position.ts';

const point = (epoch: number, snapshot: string, last: string | null = '8796093022977.12'): LogPoint => ({
  epoch,
  tag: '0a1b2c3d',
  snapshot,
  last,
});

test('a position is read back from its id, also in the middle of a batch', () => {
  const positions: readonly Position[] = [
    { at: 1_794_738_089_463, version: 6, seen: point(0, '761:761:', null) },
    { at: 0, version: 0, seen: point(1_048_575, '10:20:10,14,15') },
    { at: 5, version: 7, seen: point(3, '10:20:'), midway: { upTo: point(4, '20:22:20,21'), seq: 99 } },
  ];
  for (const position of positions) assert.deepEqual(positionOf(idOf(position)), position);
});

test('a text that is not an id gives no position', () => {
  const made = idOf({ at: 5, version: 7, seen: point(1, '10:20:') });
  const wrong = [
    '',
    'x',
    '1',
    '1-2',
    '1-2-',
    '1-2-3',
    '1-2-3:4:',
    '1-2-3.0a1b2c3d',
    '1-2-3.0a1b2c3d.3:4:',
    '1-2-3.0a1b2c3d.3:4:.1',
    '1-2-3.0a1b2c3d.3:4.1.1',
    '1-2-3.0a1b2c3d.3:4:x.1.1',
    '1-2-3.nothexa!.3:4:.1.1',
    '1-2-12345678.0a1b2c3d.3:4:.1.1',
    `${made} `,
    ` ${made}`,
    `${made}-`,
    `${made}-1.0a1b2c3d.1:2:.1.1`,
  ];
  for (const id of [
    ...wrong,
    `${made}-1.0a1b2c3d.1:2:.1.1-x`,
    '-1-2-1.0a1b2c3d.3:4:.1.1',
    `1-2-1.0a1b2c3d.3:4:${'5,'.repeat(9_000)}5.1.1`,
    `${'9'.repeat(17)}-2-1.0a1b2c3d.3:4:.1.1`,
  ])
    assert.equal(positionOf(id), null, id.slice(0, 60));
});
