import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { BrowserContextOptions, Page } from 'playwright-core';
import type { TestBrowser, TestPage } from './browser.ts';
import { call, until, type Json } from '../server.ts';
import {
  acceptOffer,
  expectStatus,
  makeAccount,
  makeApplicationToken,
  makeAvailableOperator,
  makeQueue,
  offersOf,
  type ServerHandle,
  type TestAccount,
  type TestOperator,
} from '../world.ts';

/** Styles with which a page could hide or break the widget. */
const hostileStyles = `
  * { all: unset !important; color: transparent !important; direction: rtl; }
  html > *:not(head), body *, usher-widget {
    display: none !important; visibility: hidden !important; opacity: 0 !important; pointer-events: none !important;
    position: static !important; transform: scale(0) !important; font-size: 0 !important; z-index: -1 !important;
  }
  html { display: block !important; }
  div, button, textarea, p { display: none !important; }
`;

/** A page on another origin. Its content security policy allows the widget's script and requests, and nothing else. */
interface HostPage {
  readonly url: string;
  [Symbol.asyncDispose](): Promise<void>;
}

async function startHost(tag: string, usher: string, styles: string): Promise<HostPage> {
  const policy = `default-src 'none'; script-src ${usher}; connect-src ${usher}; style-src 'self'; img-src 'self'`;
  const server = createServer(({ url = '/' }, response) => {
    if (url === '/page.css') return void response.writeHead(200, { 'content-type': 'text/css' }).end(styles);
    if (url !== '/' && url !== '/other') return void response.writeHead(404).end();
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': policy });
    response.end(
      `<!doctype html><html lang="en"><head><meta name="viewport" content="width=device-width"><title>Shop</title>
       <link rel="stylesheet" href="/page.css">${tag}</head><body><h1>Shop</h1></body></html>`,
    );
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** A site with a queue, an available operator, and a page with the widget. */
export interface Shop {
  readonly own: TestAccount;
  readonly operator: TestOperator;
  readonly queue: string;
  readonly url: string;
  [Symbol.asyncDispose](): Promise<void>;
}

interface ShopOptions {
  readonly queueFields?: Json;
  readonly presence?: Json;
  /** Additional attributes of the script tag. */
  readonly attributes?: string;
  /** The styles of the page; hostile ones by default. */
  readonly styles?: string;
  /** A proxy between the widget and Usher; none by default. */
  readonly through?: { readonly url: string };
}

export async function openShop(server: ServerHandle, options: ShopOptions = {}): Promise<Shop> {
  const { queueFields = {}, presence = {}, attributes = '', styles = hostileStyles, through = server } = options;
  const own = await makeAccount(server);
  const queue = await makeQueue(server, own, queueFields);
  const operator = await makeAvailableOperator(server, own, presence);
  const { header } = await makeApplicationToken(server, own, 'publishable');
  const token = header.replace('ApplicationToken ', '');
  const tag = `<script src="${through.url}/widget.js" data-site="${own.siteId}" data-token="${token}" ${attributes} async></script>`;
  const host = await startHost(tag, through.url, styles);
  const body = { allowed_origins: [host.url] };
  expectStatus(await call(server, `PATCH /sites/${own.siteId}`, { token: own.admin, body }), 200);
  return { own, operator, queue, url: host.url, [Symbol.asyncDispose]: async () => host[Symbol.asyncDispose]() };
}

export async function visit(
  browser: TestBrowser,
  { url }: Shop,
  options: BrowserContextOptions = {},
): Promise<TestPage> {
  const opened = await browser.newPage(options);
  await opened.page.goto(url);
  return opened;
}

/** Opens the panel and asks for a conversation. */
export async function askToTalk(page: Page, medium = 'Chat', name = ''): Promise<void> {
  await page.getByRole('button', { name: 'Chat with us' }).click();
  if (name !== '') await page.getByLabel('Your name').fill(name);
  await page.getByRole('button', { name: medium, exact: true }).click();
}

/** Waits for an offer and accepts it as the operator. Returns the id of the engagement. */
export async function takeVisitor(server: ServerHandle, { operator }: Shop): Promise<string> {
  await until(async () => (await offersOf(server, operator)).length > 0);
  return acceptOffer(server, operator);
}

/** Sends a message as the operator. Returns its id. */
export async function say(server: ServerHandle, { operator }: Shop, engagement: string, body: Json): Promise<string> {
  const sent = typeof body === 'string' ? { content: body } : body;
  const path = `/engagements/${engagement}/chat_messages/${randomUUID()}`;
  return expectStatus(await call(server, `PUT ${path}`, { token: operator.token, body: sent }), 200).body.id;
}

/** Sends a message as the visitor. */
export async function write(page: Page, text: string): Promise<void> {
  await page.getByLabel('Message', { exact: true }).fill(text);
  await page.keyboard.press('Enter');
}
