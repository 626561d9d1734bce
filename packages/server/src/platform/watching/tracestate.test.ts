import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readTracestate } from './tracestate.ts';

test('a valid tracestate is passed on, without empty members and spaces around members', () => {
  assert.equal(readTracestate('rojo=00f067aa0ba902b7,congo=t61rcWkgMzE'), 'rojo=00f067aa0ba902b7,congo=t61rcWkgMzE');
  assert.equal(readTracestate(' a=1 ,\t,b=2 3,'), 'a=1,b=2 3');
  assert.equal(readTracestate('fw529a3039@dt=FfD;x:1,0_a-b*c/d=~!'), 'fw529a3039@dt=FfD;x:1,0_a-b*c/d=~!');
});

test('an invalid tracestate is discarded as a whole', () => {
  const members = (count: number) => Array.from({ length: count }, (_, index) => `k${index}=v`).join(',');
  assert.equal(readTracestate(members(32)), members(32));
  for (const invalid of [
    undefined,
    '',
    ' , ',
    'a',
    'a=',
    '=1',
    'A=1',
    'a b=1',
    'a=1,b',
    'a=b=c',
    'a=\u00e9',
    'a=1\r\nx: y',
    'a@B=1',
    `${'k'.repeat(257)}=v`,
    `k=${'v'.repeat(257)}`,
    members(33),
    ','.repeat(100_000),
    ['a=1'],
  ])
    assert.equal(readTracestate(invalid), null, String(invalid).slice(0, 40));
});

test('a tracestate of more than 512 characters loses its long members first, and then the last ones', () => {
  const [long, short] = [`long=${'x'.repeat(150)}`, (index: number) => `s${index}=${'y'.repeat(40)}`];
  const shorts = Array.from({ length: 10 }, (_, index) => short(index));
  assert.equal(readTracestate([short(0), long, ...shorts.slice(1)].join(',')), shorts.join(','));
  const many = Array.from({ length: 20 }, (_, index) => short(index));
  const kept = readTracestate(many.join(',')) ?? '';
  assert.ok(kept.length <= 512 && many.join(',').startsWith(`${kept},`));
  const tooLong = [`a=${'x'.repeat(250)}`, `b=${'x'.repeat(250)}`, `c=${'x'.repeat(250)}`].join(',');
  assert.equal(readTracestate(tooLong), null);
});
