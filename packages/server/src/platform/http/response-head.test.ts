import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';

/** Prints whether requests and responses are fast objects after the garbage of the first `count` of them was collected. */
const program = `
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
const { Response, settleShapes } = await import(${JSON.stringify(new URL('response-head.ts', import.meta.url).href)});
settleShapes();
const socket = new Socket();
const make = () => new Response(new IncomingMessage(socket));
for (let n = 0; n < Number(process.argv[1]); n += 1) make();
for (let round = 0; round < 3; round += 1) {
  await new Promise((resolve) => setImmediate(resolve));
  gc();
}
for (let n = 0; n < 10; n += 1) make();
const response = make();
console.log(%HasFastProperties(response) && %HasFastProperties(response.req));
`;
const flags = ['--expose-gc', '--allow-natives-syntax', '--input-type=module'];

test('requests and responses do not become hash tables, whenever garbage is collected', () => {
  // Without `settleShapes` they do after five of them.
  for (const count of ['5', '6']) {
    const output = execFileSync(process.execPath, [...flags, '-e', program, count], { encoding: 'utf8' });
    assert.equal(output.trim(), 'true', `after ${count} requests`);
  }
});
