import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import type { Page } from 'playwright-core';
import { openBrowser } from '../support/browser/browser.ts';
import { forThisFile } from '../support/fixture.ts';
import { call, startTestServer, type Json } from '../support/server.ts';
import { askToTalk, openShop, takeVisitor, visit } from '../support/browser/widget.ts';
import { expectStatus } from '../support/world.ts';

const server = await forThisFile(startTestServer());
const browser = await forThisFile(openBrowser());
const folder = mkdtempSync(join(tmpdir(), 'usher-files-'));
after(async () => {
  rmSync(folder, { recursive: true });
});

const picker = (page: Page) => page.locator('usher-widget input[type=file]');

test('visitors see why a file was refused, and can remove it', async () => {
  await using shop = await openShop(server);
  const { page } = await visit(browser, shop);
  await askToTalk(page);
  await takeVisitor(server, shop);
  await page.getByRole('button', { name: 'Send a file' }).waitFor();
  assert.equal(
    await picker(page).getAttribute('accept'),
    'image/jpeg,image/png,image/gif,image/webp,application/pdf,text/plain',
  );
  const refused = [
    ['page.html', 20, 'You can send JPEG, PNG, GIF, WebP, PDF, and text files.'],
    ['none.txt', 0, 'This file is empty.'],
    ['large.txt', 25 * 1024 * 1024 + 1, 'This file is too large. The limit is 25 MB.'],
  ] as const;
  for (const [name, bytes, reason] of refused) {
    writeFileSync(join(folder, name), '');
    truncateSync(join(folder, name), bytes);
    await picker(page).setInputFiles(join(folder, name));
    await page.getByText(reason).waitFor();
    await page.getByRole('button', { name: `Remove ${name}` }).click();
    await page.getByText(reason).waitFor({ state: 'detached' });
  }
});

test('files can be dropped on the panel and pasted into the message', async () => {
  await using shop = await openShop(server);
  const { page, context } = await visit(browser, shop);
  await askToTalk(page);
  const engagement = await takeVisitor(server, shop);
  await page.getByRole('button', { name: 'Send a file' }).waitFor();
  const path = join(folder, 'dropped.txt');
  writeFileSync(path, 'a list of chairs');
  const panel = await page.getByRole('dialog').boundingBox();
  assert.ok(panel !== null);
  const devtools = await context.newCDPSession(page);
  const drag = async (type: 'dragEnter' | 'dragOver' | 'drop'): Promise<void> => {
    const data = { items: [], files: [path], dragOperationsMask: 1 };
    await devtools.send('Input.dispatchDragEvent', { type, x: panel.x + 100, y: panel.y + 200, data });
  };
  await drag('dragEnter');
  await drag('dragOver');
  await page.getByText('Drop files to send them').waitFor();
  await drag('drop');
  await page.getByRole('button', { name: 'Download dropped.txt' }).waitFor();
  assert.equal(await page.getByText('Drop files to send them').count(), 0);

  await page.getByLabel('Message', { exact: true }).evaluate((field: Json) => {
    const { ClipboardEvent, DataTransfer, File } = field.ownerDocument.defaultView;
    const clipboardData = new DataTransfer();
    clipboardData.items.add(new File(['a photo'], 'pasted.txt', { type: 'text/plain' }));
    field.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }));
  });
  await page.getByRole('button', { name: 'Download pasted.txt' }).waitFor();
  const files = expectStatus(
    await call(server, `GET /engagements/${engagement}/files`, { token: shop.operator.token }),
    200,
  ).body;
  assert.deepEqual(
    files.files.map(({ name }: Json) => name),
    ['dropped.txt', 'pasted.txt'],
  );
});

test('there is no file button if the site accepts no files from visitors', async () => {
  await using shop = await openShop(server);
  const body = { allowed_file_senders: { operator: true, visitor: false } };
  expectStatus(await call(server, `PATCH /sites/${shop.own.siteId}`, { token: shop.own.admin, body }), 200);
  const { page } = await visit(browser, shop);
  await askToTalk(page);
  const engagement = await takeVisitor(server, shop);
  await page.getByText('You are connected.').waitFor();
  await page.getByLabel('Message', { exact: true }).waitFor();
  assert.equal(await page.getByRole('button', { name: 'Send a file' }).count(), 0);
  const path = `GET /engagements/${engagement}/files`;
  assert.notEqual(expectStatus(await call(server, path, { token: shop.operator.token }), 200).body.accepts, null);
});
