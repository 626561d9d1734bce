import assert from 'node:assert/strict';
import { request } from 'node:http';
import { test } from 'node:test';
import { openBrowser } from '../support/browser.ts';
import { forThisFile } from '../support/fixture.ts';
import { startTestServer } from '../support/server.ts';
import { makeAccount, makeQueue } from '../support/world.ts';

const mostBytes = 300 * 1_024;

const server = await forThisFile(startTestServer());
const browser = await forThisFile(openBrowser());

/** Bytes as they come over the wire to one who takes gzip: browsers take less, br, but not over plain HTTP. */
async function gzippedSize(url: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const asked = request(url, { headers: { 'accept-encoding': 'gzip' } }, (response) => {
      let bytes = 0;
      response.on('data', (chunk: Buffer) => (bytes += chunk.length));
      response.on('end', () => resolve(response.statusCode === 200 ? bytes : Number.NaN));
    });
    asked.on('error', reject);
    asked.end();
  });
}

test('the first page is of use after 300 KB of files at most, and from this server alone', async () => {
  const own = await makeAccount(server);
  await makeQueue(server, own, { name: 'Sales' });
  const { page, context } = await browser.newPage();
  const data = { api_key_id: own.key.id, api_key_secret: own.key.secret };
  assert.ok((await context.request.post(`${server.url}/operator_authentication/sessions`, { data })).ok());
  const loaded = new Set<string>();
  page.on('request', (each) => loaded.add(each.url()));
  await page.goto(`${server.url}/console/`);
  await page.getByRole('table', { name: 'Queues' }).getByText('Sales').waitFor();
  for (const url of loaded) assert.ok(url.startsWith(`${server.url}/`), url);
  const files = [...loaded].filter((url) => url.startsWith(`${server.url}/console/`));
  assert.ok(files.some((url) => url.endsWith('.js')) && files.some((url) => url.endsWith('.css')));
  const sizes = await Promise.all(files.map(async (url) => [await gzippedSize(url), url] as const));
  const total = sizes.reduce((sum, [size]) => sum + size, 0);
  assert.ok(total <= mostBytes, `${total} bytes: ${sizes.map(([size, url]) => `${size} ${url}`).join(', ')}`);
  // Without this the test would still pass were everything in one file: charts are not for the first page.
  assert.ok(!files.some((url) => /charts|day/.test(url)));
  console.log(`${(total / 1_024).toFixed(1)} KB in ${files.length} files`);
});
