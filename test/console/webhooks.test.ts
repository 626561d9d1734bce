import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import type { Locator, Page } from 'playwright-core';
import {
  bodyOf,
  emptyFields,
  violationsOf,
  type WebhookFields,
} from '../../packages/console/src/pages/webhooks/registrations/fields.ts';
import { verifySnippet } from '../../packages/console/src/pages/webhooks/catalogue/verify-snippet.ts';
import { webhookViolations } from '../../packages/server/src/events/subscriptions/subscription.ts';
import { comesTrue, openBrowser, type TestPage } from '../support/browser/browser.ts';
import { barriersOf, looks, openConsole, openPath, tooWideOn } from '../support/browser/console.ts';
import { insertDeliveries, insertWebhook } from '../support/receivers/deliveries.ts';
import { forThisFile } from '../support/fixture.ts';
import { proof } from '../support/proof.ts';
import { startReceiver, type Receiver } from '../support/receivers/receiver.ts';
import { call, startTestServer, until, type Json } from '../support/server.ts';
import { makeWebhook } from '../support/receivers/webhooks.ts';
import { expectStatus, makeAccount, makeSite, type TestAccount } from '../support/world.ts';

let account: TestAccount;

const server = await forThisFile(startTestServer());
const browser = await forThisFile(openBrowser());
const receiver = await forThisFile(startReceiver());

/** Each test has its own account, because an account has at most ten webhooks. */
async function open(path: string, options: Parameters<typeof openConsole>[0]['options'] = {}): Promise<TestPage> {
  return openConsole({ browser, server, key: account.key, path, options });
}

async function choose(page: Page, within: Page | Locator, label: string, option: string): Promise<void> {
  await within.getByRole('combobox', { name: label }).click();
  await page.getByRole('option', { name: option, exact: true }).filter({ visible: true }).click();
}

const hostile = '<img src=x onerror="document.title=1">';

test('a webhook is created with a secret that is shown once, and its test event is delivered', async () => {
  account = await makeAccount(server);
  const { page, complaints, context } = await open('/webhooks');
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.getByText('No webhooks yet').waitFor();
  await page.getByRole('link', { name: 'New webhook' }).click();
  await page.getByRole('textbox', { name: 'URL' }).fill(receiver.url);
  await page.getByRole('textbox', { name: 'Description' }).fill(`Orders ${hostile}`);
  await page.getByRole('button', { name: 'Add header' }).click();
  await page.getByLabel('Name of header 1').fill('X-Token');
  await page.getByLabel('Value of header 1').fill('from the console');
  await page.getByLabel('Search event types').fill('engagement starts');
  await page.getByRole('checkbox', { name: 'engagement.start' }).check();
  await page.getByLabel('Search event types').fill('');
  await page.getByRole('checkbox', { name: 'engagement.end' }).check();
  await page.getByRole('button', { name: 'Create webhook' }).click();
  const dialog = page.getByRole('dialog', { name: 'Webhook created' });
  const secret = await dialog.getByLabel('Secret').innerText();
  assert.match(secret, /^whsec_/);
  await dialog.getByRole('button', { name: 'Copy' }).click();
  await dialog.getByText('Copied').waitFor();
  assert.equal(await page.evaluate('navigator.clipboard.readText()'), secret);
  await dialog.getByRole('button', { name: "I've saved it" }).click();

  await page.getByRole('heading', { name: `Orders ${hostile}` }).waitFor();
  await page.getByText('No deliveries yet').waitFor();
  await page.getByRole('button', { name: 'Send a test event' }).click();
  const sending = page.getByRole('dialog', { name: 'Send a test event' });
  await choose(page, sending, 'Event type', 'engagement.end');
  await sending.getByRole('button', { name: 'Send' }).click();
  await sending.getByText('Delivered').first().waitFor();
  await sending.getByText(/^status 200 after/).waitFor();
  const arrived = receiver.arrived.at(-1);
  assert.equal(arrived?.event.event_type, 'engagement.end');
  assert.equal(arrived?.headers['x-token'], 'from the console');
  assert.ok(await isSigned(secret, arrived));

  // The drawer is above the dialog that opened it: the drawer gets the click, the focus and the first Escape.
  await sending.getByRole('link', { name: 'View delivery' }).click();
  const details = page.getByRole('dialog', { name: 'Delivery' });
  await comesTrue(page, `document.activeElement.closest('[role=dialog]')?.innerText.startsWith('Delivery')`);
  await details.getByRole('button', { name: 'Replay' }).click({ trial: true });
  await page.keyboard.press('Escape');
  await details.waitFor({ state: 'detached' });
  await comesTrue(page, `document.activeElement.textContent === 'View delivery'`);
  await page.keyboard.press('Enter');
  await details.getByText(`POST ${receiver.url}`).waitFor();
  await details.getByRole('table', { name: 'Request headers' }).getByText('from the console').waitFor();
  assert.equal(await details.getByRole('region', { name: 'Request body' }).innerText(), arrived?.body);
  assert.equal(await details.getByRole('region', { name: 'Response body' }).innerText(), 'taken');
  await page.reload();
  await details.getByText('Status 200', { exact: true }).waitFor();
  assert.equal((await page.content()).includes(secret), false);
  assert.deepEqual(complaints, []);
});

async function isSigned(secret: string, arrived: Receiver['arrived'][number] | undefined): Promise<boolean> {
  const folder = mkdtempSync(join(tmpdir(), 'usher-verify-'));
  try {
    const file = join(folder, 'verify.mjs');
    writeFileSync(file, verifySnippet);
    const { verify } = (await import(pathToFileURL(file).href)) as { verify: (...given: unknown[]) => boolean };
    const other = `${secret.slice(0, 10)}${secret[10] === 'A' ? 'B' : 'A'}${secret.slice(11)}`;
    assert.equal(verify(other, arrived?.headers, arrived?.body), false);
    assert.equal(verify(secret, arrived?.headers, `${arrived?.body} `), false);
    const old = { ...arrived?.headers, 'webhook-timestamp': '1700000000' };
    assert.equal(verify(secret, old, arrived?.body), false);
    return verify(secret, arrived?.headers, arrived?.body);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

test('errors of typed values and of the server are shown at their field', async () => {
  account = await makeAccount(server);
  const { page, complaints } = await open('/webhooks/new');
  const url = page.getByRole('textbox', { name: 'URL' });
  await url.fill('ftp://example.com');
  await page.getByText('must be a full http:// or https:// URL').waitFor();
  await url.fill('https://me:secret@example.com/');
  await page.getByText('must not contain a user name or password').waitFor();
  await page.getByRole('button', { name: 'Add header' }).click();
  await page.getByLabel('Name of header 1').fill('Host');
  await page.getByText('is a header that cannot be set').waitFor();
  await page.getByLabel('Name of header 1').fill('X-Fine');
  // Only the server decides which addresses may be called.
  await url.fill('http://10.0.0.1/hook');
  await page.getByRole('button', { name: 'Create webhook' }).click();
  await page.getByText('select at least one').waitFor();
  await page.getByRole('checkbox', { name: 'engagement.start' }).check();
  await page.getByRole('checkbox', { name: 'Use my own secret' }).check();
  await page.getByRole('textbox', { name: 'Secret' }).fill('whsec_short');
  await page.getByText('must be whsec_ followed by 24 to 64 bytes in base64').waitFor();
  await page.getByRole('checkbox', { name: 'Use my own secret' }).uncheck();
  await page.getByRole('button', { name: 'Create webhook' }).click();
  await page.getByText('is not an address that Usher may connect to').waitFor();
  assert.equal(await url.getAttribute('aria-invalid'), 'true');
  assert.deepEqual((await call(server, 'GET /webhooks', { token: account.admin })).body.webhooks, []);

  await page.getByText('Apple push notification').click();
  await page.getByLabel('Device token').fill('no token!');
  await page.getByText('may contain only letters, digits, _ and -, up to 200 characters').waitFor();
  await page.getByLabel('Device token').fill('0a1b2c');
  await page.getByLabel('Topic').fill('com.example.App');
  await page.getByText('apns://0a1b2c@com.example.App?env=sandbox').waitFor();
  await page.getByRole('button', { name: 'Create webhook' }).click();
  await page.getByRole('button', { name: 'Send a test event' }).waitFor();
  const { webhooks } = (await call(server, 'GET /webhooks', { token: account.admin })).body;
  assert.deepEqual(
    webhooks.map(({ url, method }: Json) => [url, method]),
    [['apns://0a1b2c@com.example.App?env=sandbox', null]],
  );
  assert.deepEqual(complaints, []);
});

test('a NATS webhook is created and shown, and keeps its hidden credentials', async () => {
  account = await makeAccount(server);
  const { page, complaints } = await open('/webhooks/new');
  await page.getByText('NATS stream').click();
  await page.getByLabel('Server').fill('nats://127.0.0.1:4222');
  await page.getByLabel('Subject').fill('usher.*');
  await page.getByText('no wildcards').waitFor();
  await page.getByLabel('Subject').fill('usher.events');
  await page.getByText('nats://127.0.0.1:4222/usher.events').waitFor();
  await choose(page, page, 'Authentication', 'User and password');
  await page.getByRole('textbox', { name: 'User' }).fill('usher');
  await page.getByRole('textbox', { name: 'Password' }).fill('of mine');
  await page.getByRole('checkbox', { name: 'engagement.start' }).check();
  await page.getByRole('button', { name: 'Create webhook' }).click();
  await page.getByRole('button', { name: "I've saved it" }).click();
  await page.getByText('NATS', { exact: true }).waitFor();
  const stored = async (): Promise<Json> =>
    (await call(server, 'GET /webhooks', { token: account.admin })).body.webhooks[0];
  assert.deepEqual(
    [(await stored()).url, (await stored()).has_credentials],
    ['nats://127.0.0.1:4222/usher.events', true],
  );
  await page.getByRole('tab', { name: 'Settings' }).click();
  assert.equal(await page.getByRole('combobox', { name: 'Authentication' }).inputValue(), 'Stored credentials');
  await page.getByLabel('Subject').fill('usher.others');
  await page.getByRole('button', { name: 'Save' }).click();
  await until(async () => (await stored()).url.endsWith('/usher.others'));
  assert.equal((await stored()).has_credentials, true);
  await page.getByLabel('Server').fill('nats://127.0.0.2:4222');
  await page.getByText('are for another server').waitFor();
  assert.deepEqual(await barriersOf(page), []);
  assert.deepEqual(complaints, []);
});

test('the form and the server refuse the same values', () => {
  const fields: WebhookFields = { ...emptyFields, url: 'https://example.com/', events: ['engagement.start'] };
  const header = (name: string, value = '') => ({ ...fields, headers: [{ name, value }] });
  const push = (part: Partial<WebhookFields['push']>): WebhookFields => ({
    ...fields,
    kind: 'apns',
    push: { deviceToken: 'a1', topic: 'com.example.App', environment: 'production', silent: true, ...part },
  });
  const urls = ['', 'x', 'http://', 'http:///', 'HTTPS://Example.com', 'https://a b', 'https://a\\b', 'https://u@h', 'http://h/@', 'http:////u@h', 'https://h?a#b', 'apns://x', 'http://[::1]/', 'http://[::'].map((url) => ({ ...fields, url })); // prettier-ignore
  const headers = [header('X-A', 'b'), header('X A'), header('HOST'), header('proxy-x'), header('x', 'ü'), header('x', '☂'), header('x', 'a\nb'), header('x', 'y'.repeat(8_191)), header('x', 'y'.repeat(8_192)), header('')]; // prettier-ignore
  const pushes = [push({}), push({ deviceToken: '' }), push({ deviceToken: 'a/b' }), push({ topic: 'a b' }), push({ topic: 'a&b' }), push({ deviceToken: 'a'.repeat(201) })]; // prettier-ignore
  const stream = (part: Partial<WebhookFields['nats']>): WebhookFields => ({
    ...fields,
    kind: 'nats',
    nats: { ...emptyFields.nats, server: 'nats://example.com', subject: 'usher.events', ...part },
  });
  const streams = [stream({}), stream({ server: 'tls://[::1]:4222/' }), stream({ server: '' }), stream({ server: 'nats://' }), stream({ server: 'http://example.com' }), stream({ server: 'nats://u@h' }), stream({ server: 'nats://h/x' }), stream({ server: 'nats://a b' }), stream({ server: 'nats://h:0' }), stream({ subject: '' }), stream({ subject: 'a.*' }), stream({ subject: '>' }), stream({ subject: '$SYS.a' }), stream({ subject: 'a/b' }), stream({ signIn: 'password', user: 'a', password: 'b' }), stream({ signIn: 'token', token: 'c' })]; // prettier-ignore
  for (const each of [...urls, ...headers, ...pushes, ...streams]) {
    const server = webhookViolations(bodyOf(each)).length > 0;
    assert.equal(violationsOf(each).length > 0, server, JSON.stringify(each));
  }
});

test('a failing receiver is shown, and its deliveries are retried and replayed, one and many', async () => {
  account = await makeAccount(server);
  const failing = await startReceiver();
  const answer = `${hostile}${'long '.repeat(600)}`;
  const taken = 'engagement.transfer';
  failing.answer = ({ event }) =>
    event.event_type === taken
      ? 200
      : (_, response) => void response.writeHead(503, { 'content-type': 'text/html' }).end(answer);
  const webhook = await makeWebhook(server, account, { url: failing.url, ordering: 'none' });
  const { page, complaints } = await open(`/webhooks/${webhook.id}`);
  const send = async (type: string): Promise<unknown> =>
    call(server, `POST /webhooks/${webhook.id}/test`, { token: account.admin, body: { event_type: type } });
  for (const type of ['engagement.start', 'engagement.end']) await send(type);
  const table = page.getByRole('table', { name: 'Deliveries' });
  // The status changes without a reload.
  await table.getByText('Retrying').nth(1).waitFor();
  await table.getByText('answered with status 503').nth(1).waitFor();
  // The status stays the same while a delivery waits for its retry, though the last attempt succeeded.
  const status = page.getByRole('group', { name: 'Status' });
  await status.getByText('2 deliveries').waitFor();
  await send(taken);
  await table.getByText('Delivered').waitFor();
  await page.reload();
  await status.getByText('2 deliveries').waitFor();
  await status.getByText('Retrying').waitFor();
  await table.getByRole('link', { name: 'engagement.end' }).click();
  const details = page.getByRole('dialog', { name: 'Delivery' });
  await details.getByText('status 503 after').first().waitFor();
  const body = details.getByRole('region', { name: 'Response body' });
  assert.ok((await body.innerText()).startsWith(hostile));
  assert.ok((await body.innerText()).length < 1_600);
  await details
    .getByRole('button', { name: /^Show all/ })
    .first()
    .click();
  assert.equal((await body.innerText()).trim(), answer.trim());
  failing.answer = () => 200;
  await details.getByRole('button', { name: 'Retry now' }).click();
  await details.getByText('The receiver accepted it.').waitFor();
  assert.equal((await details.getByText(/^status (503|200)/).count()) >= 2, true);
  await details.getByRole('button', { name: 'Close' }).click();

  const before = failing.arrived.length;
  await table.getByRole('checkbox', { name: 'Select all on this page' }).check();
  await page.getByText('3 deliveries selected').waitFor();
  await page.getByRole('button', { name: 'Replay selected' }).click();
  await page.getByText('3 deliveries replayed').waitFor();
  await until(() => failing.arrived.length >= before + 3);
  await table.getByText('Delivered').nth(2).waitFor();
  await status.getByText('Enabled', { exact: true }).waitFor();

  await choose(page, page, 'State', 'Held');
  await page.getByText('No matching deliveries').waitFor();
  await page.getByRole('button', { name: 'Clear filters' }).last().click();
  await table.getByText('Delivered').nth(2).waitFor();
  const id = failing.arrived[0]?.event.event_id;
  await page.getByLabel('Search by ID').fill(id);
  await until(async () => (await table.getByRole('row').count()) === 2);
  await page.reload();
  await until(async () => (await table.getByRole('row').count()) === 2);
  await failing.close();
  assert.deepEqual(complaints, []);
});

test('refusals of a bulk replay are shown, and the other deliveries are sent', proof, async () => {
  account = await makeAccount(server);
  const webhook = await insertWebhook(server, account, { origin: new URL(receiver.url).origin });
  const { sql } = server.database;
  await insertDeliveries(sql, webhook, 'exhausted', { count: 2 });
  const [gone = ''] = await insertDeliveries(sql, webhook, 'exhausted', { count: 1, type: 'engagement.end' });
  await sql`DELETE FROM events WHERE id = (SELECT event_id FROM delivery_log WHERE delivery_id = ${gone})`;
  const { page, complaints } = await open(`/webhooks/${webhook.id}`);
  await page.getByRole('checkbox', { name: 'Select all on this page' }).check();
  await page.getByRole('button', { name: 'Replay selected' }).click();
  await page.getByText('2 deliveries replayed').waitFor();
  await page.getByText('1 could not be replayed:').waitFor();
  await page.getByText(/is older than what is kept\. \(1\)/).waitFor();
  assert.deepEqual(complaints, []);
});

test('a disabled webhook holds its deliveries, which are recovered from a time on', proof, async () => {
  account = await makeAccount(server);
  const webhook = await insertWebhook(server, account, { origin: new URL(receiver.url).origin });
  await insertDeliveries(server.database.sql, webhook, 'held', { count: 3 });
  const { page, complaints } = await open(`/webhooks/${webhook.id}`);
  await page.getByRole('button', { name: 'Disable' }).click();
  await page.getByText(/disabled manually since/).waitFor();
  assert.ok(await page.getByRole('button', { name: 'Send a test event' }).isDisabled());
  await page.getByRole('button', { name: 'Enable' }).click();
  await page.getByText('Enabled', { exact: true }).waitFor();
  await page.getByRole('table', { name: 'Deliveries' }).getByText('Held').nth(2).waitFor();
  await page.getByRole('tab', { name: 'Recover' }).click();
  await page.getByText('No recoveries yet').waitFor();
  const before = receiver.arrived.length;
  await page.getByRole('button', { name: 'Recover' }).click();
  const row = page.getByRole('table', { name: 'Recoveries' }).getByRole('row').nth(1);
  await row.getByText('Finished').waitFor();
  await row.getByRole('cell', { name: '3', exact: true }).waitFor();
  await until(() => receiver.arrived.length === before + 3);

  await page.getByLabel('To (optional)').fill('2020-01-01T00:00');
  await page.getByRole('button', { name: 'Recover' }).click();
  await page.getByText('must be later than since').waitFor();
  assert.deepEqual(complaints, []);
});

test('when two people edit one webhook, the second sees both versions and saves the chosen values', async () => {
  account = await makeAccount(server);
  const webhook = await makeWebhook(server, account, { url: receiver.url, description: 'At first' });
  const { page, complaints } = await open(`/webhooks/${webhook.id}/settings`);
  await page.getByRole('textbox', { name: 'Description' }).fill('Mine');
  const body = { url: receiver.url, method: 'POST', events: ['engagement.end'], description: 'Theirs' };
  expectStatus(await call(server, `PUT /webhooks/${webhook.id}`, { token: account.admin, body }), 200);
  await page.getByRole('button', { name: 'Save' }).click();
  const dialog = page.getByRole('dialog', { name: 'This webhook was changed while you edited' });
  await dialog.getByText('Mine: Mine').waitFor();
  await dialog.getByText('Theirs: Theirs').waitFor();
  await dialog.getByRole('button', { name: 'Save choices' }).click();
  await page.getByText('Webhook saved').waitFor();
  const saved = (await call(server, `GET /webhooks/${webhook.id}`, { token: account.admin })).body;
  assert.deepEqual([saved.description, saved.events], ['Mine', ['engagement.end']]);

  await page.getByRole('button', { name: 'Rotate secret' }).click();
  await page.getByRole('button', { name: 'Rotate', exact: true }).click();
  const rotated = page.getByRole('dialog', { name: 'New secret' });
  const secret = await rotated.getByLabel('Secret').innerText();
  assert.notEqual(secret, webhook.secret);
  await rotated.getByText('every request is signed with both secrets').waitFor();
  await rotated.getByRole('button', { name: "I've saved it" }).click();
  await page.getByRole('button', { name: 'Delete' }).click();
  const confirmation = page.getByRole('dialog', { name: 'Delete this webhook?' });
  await confirmation.getByRole('button', { name: 'Cancel' }).click();
  await confirmation.waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Delete' }).click();
  await confirmation.getByRole('button', { name: 'Delete' }).click();
  await page.getByText('No webhooks yet').waitFor();
  assert.deepEqual(complaints, []);
});

test('the catalogue has every event type, with its fields and a sample', async () => {
  account = await makeAccount(server);
  const { page, complaints } = await open('/webhooks/catalogue');
  await page.getByLabel('Search event types').fill('scan');
  const types = page.getByRole('navigation', { name: 'Event types' });
  await types.getByRole('link', { name: 'engagement.files.security_scan_result' }).click();
  await page.getByRole('heading', { name: 'engagement.files.security_scan_result' }).waitFor();
  const sample = JSON.parse(await page.getByRole('region', { name: 'Sample', exact: true }).innerText());
  assert.equal(sample.event_type, 'engagement.files.security_scan_result');
  await page.getByRole('table', { name: 'Fields' }).getByText('file_id').waitFor();
  await page.getByText('JSON Schema').click();
  const schema = JSON.parse(await page.getByRole('region', { name: 'JSON Schema' }).innerText());
  assert.equal(schema.type, 'object');
  assert.equal(
    await page.getByRole('region', { name: 'Signature verification in Node.js' }).innerText(),
    verifySnippet,
  );
  assert.deepEqual(complaints, []);
});

for (const { where, ...options } of looks)
  test(`no accessibility violations ${where}`, async () => {
    account = await makeAccount(server);
    await makeSite(server, account, 'A long name of a site '.repeat(8));
    const webhook = await insertWebhook(server, account, {
      siteIds: null,
      origin: `https://${'a-long-name.'.repeat(12)}example`,
    });
    const { sql } = server.database;
    const hour = 3_600_000;
    for (const [index, standing] of (['delivered', 'exhausted', 'delivered', 'held', 'discarded'] as const).entries())
      await insertDeliveries(sql, webhook, standing, {
        count: 4 + index,
        at: new Date(Date.now() - (5 - index) * hour),
      });
    const [one = ''] = await insertDeliveries(sql, webhook, 'exhausted', { count: 1, payload: { text: hostile } });
    const { page, complaints } = await open('/webhooks', options);
    const home = `/webhooks/${webhook.id}`;
    const places = [
      // The statistics are hidden on a phone.
      ['/webhooks', options.viewport.width === 375 ? 'a-long-name' : 'delivered, '],
      ['/webhooks/new', 'engagement.transfer'],
      [home, 'Failed'],
      [`${home}/deliveries/${one}`, 'status 500 after'],
      [`${home}/outcomes`, 'Attempt duration'],
      [`${home}/recover`, 'No recoveries yet'],
      [`${home}/settings`, 'engagement.transfer'],
      ['/webhooks/catalogue', 'timingSafeEqual'],
    ] as const;
    for (const [path, shown] of places) {
      await openPath(page, path);
      await page.getByText(shown).filter({ visible: true }).first().waitFor();
      assert.deepEqual(await barriersOf(page), [], path);
      assert.deepEqual(await tooWideOn(page), [], path);
    }
    assert.deepEqual(complaints, []);
  });
