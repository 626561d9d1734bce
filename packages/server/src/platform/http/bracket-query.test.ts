import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseBrackets } from './bracket-query.ts';
import { Refusal } from '../errors.ts';

const readings: readonly (readonly [query: string, object: unknown])[] = [
  ['', {}],
  ['a=1', { a: '1' }],
  ['a=1&_=1700000000000', { a: '1' }],
  ['a=1&a=2', { a: ['1', '2'] }],
  ['a[]=1', { a: ['1'] }],
  ['a[]=1&a[]=2', { a: ['1', '2'] }],
  ['a[1]=y&a[0]=x', { a: ['x', 'y'] }],
  ['a[10]=z&a[9]=y', { a: ['y', 'z'] }],
  ['a[b][c]=1&a[b][d]=2', { a: { b: { c: '1', d: '2' } } }],
  ['a[b][]=1&a[b][]=2', { a: { b: ['1', '2'] } }],
  ['a[0][x]=1&a[0][y]=2&a[1][x]=3', { a: [{ x: '1', y: '2' }, { x: '3' }] }],
  ['a[][x]=1&a[][y]=2&a[][x]=3', { a: [{ x: '1', y: '2' }, { x: '3' }] }],
  ['a[][x][]=1&a[][x][]=2', { a: [{ x: ['1', '2'] }] }],
  ['a%5Bb%5D=1+2%20%C3%A9', { a: { b: '1 2 é' } }],
  ['[a]=1&a[=2&a]=3&a[b]c=4', { '[a]': '1', 'a[': '2', 'a]': '3', 'a[b]c': '4' }],
  ['__proto__[x]=1&a[__proto__]=2&a[b]=3', { a: { b: '3' } }],
];

for (const [query, object] of readings)
  test(`${query === '' ? 'an empty query' : query} is read as ${JSON.stringify(object)}`, () => {
    assert.deepEqual(parseBrackets(query), object);
    assert.equal(({} as { x?: unknown }).x, undefined);
  });

const refusals: readonly (readonly [why: string, query: string])[] = [
  ['a value and an object', 'a=1&a[b]=2'],
  ['an object and a value', 'a[b]=2&a=1'],
  ['deep nesting', `a${'[b]'.repeat(30)}=1`],
  ['very many parameters', Array.from({ length: 1_001 }, (_, index) => `a[]=${index}`).join('&')],
];

for (const [why, query] of refusals)
  test(`${why} is refused with 422`, () => {
    assert.throws(() => parseBrackets(query), (error) => error instanceof Refusal && error.code === 'invalid_request'); // prettier-ignore
  });
