import assert from 'node:assert/strict';
import { test } from 'node:test';
import { csvOf, wantsCsv } from './csv.ts';

test('cells are quoted where necessary, and text is never a formula', () => {
  const rows = [
    { at: new Date(0), n: -1.5, text: 'a "b", c' },
    { at: null, n: 0, text: '=HYPERLINK("x")' },
    { text: '@one\r\ntwo' },
  ];
  assert.equal(
    csvOf(['at', 'n', 'text'], rows),
    'at,n,text\r\n1970-01-01T00:00:00.000Z,-1.5,"a ""b"", c"\r\n,0,"\'=HYPERLINK(""x"")"\r\n,,"\'@one\r\ntwo"\r\n',
  );
});

const accepts: readonly (readonly [accept: string | undefined, csv: boolean])[] = [
  [undefined, false],
  ['*/*', false],
  ['application/json', false],
  ['text/csv', true],
  ['Text/CSV; charset=utf-8', true],
  ['text/csv, application/json;q=0.5', true],
  ['text/csv;q=0.5, application/json', false],
  ['text/csv;q=0', false],
  ['application/vnd.salemove.v1+json, text/csv;q=0.9', true],
];

for (const [accept, csv] of accepts)
  test(`Accept: ${accept ?? 'nothing'} gives ${csv ? 'CSV' : 'JSON'}`, () => assert.equal(wantsCsv(accept), csv));
