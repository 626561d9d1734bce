import assert from 'node:assert/strict';
import { request } from 'node:http';
import { test } from 'node:test';
import { openBrowser } from '../support/browser/browser.ts';
import { forThisFile } from '../support/fixture.ts';
import { startTestServer } from '../support/server.ts';
import { makeAccount, makeQueue } from '../support/world.ts';

const maxBytes = 300 * 1_024;

const server = await forThisFile(startTestServer());
const browser = await forThisFile(openBrowser());

/** The transferred bytes with gzip. Browsers accept br, too, which is smaller, but not over plain HTTP. */
async function gzippedSize(url: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const outgoing = request(url, { headers: { 'accept-encoding': 'gzip' } }, (response) => {
      let bytes = 0;
      response.on('data', (chunk: Buffer) => (bytes += chunk.length));
      response.on('end', () => resolve(response.statusCode === 200 ? bytes : Number.NaN));
    });
    outgoing.on('error', reject);
    outgoing.end();
  });
}

test('the first page needs at most 300 KB of files, all from this server', async () => {
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
  assert.ok(total <= maxBytes, `${total} bytes: ${sizes.map(([size, url]) => `${size} ${url}`).join(', ')}`);
  // Charts must not be in the files of the first page; without this check one file for everything would pass.
  assert.ok(!files.some((url) => /charts|day/.test(url)));
  console.log(`${(total / 1_024).toFixed(1)} KB in ${files.length} files`);
});
