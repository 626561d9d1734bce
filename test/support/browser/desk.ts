import { randomUUID } from 'node:crypto';
import type { Locator, Page } from 'playwright-core';
import type { TestBrowser, TestPage } from './browser.ts';
import { openConsole } from './console.ts';
import { call, type Json, type TestServer } from '../server.ts';
import {
  requestTicket,
  expectStatus,
  makeAccount,
  makeOperator,
  makeQueue,
  makeVisitor,
  type TestAccount,
  type TestOperator,
  type TestVisitor,
} from '../world.ts';

const patienceMs = 10_000;

interface StaffedQueue {
  readonly own: TestAccount;
  readonly queue: string;
  readonly operator: TestOperator;
}

/** Makes a site with a queue, and an operator who takes several chats at a time. */
async function makeStaffedQueue(server: TestServer): Promise<StaffedQueue> {
  const own = await makeAccount(server);
  const queue = await makeQueue(server, own, { name: 'Invoices' });
  const operator = await makeOperator(server, own, [{ site_id: own.siteId, role: 'operator' }]);
  const body = { max_engagement_count: 5 };
  expectStatus(await call(server, `PATCH /operators/${operator.id}`, { token: own.admin, body }), 200);
  return { own, queue, operator };
}

export interface DeskPage extends StaffedQueue, TestPage {
  readonly server: TestServer;
}

interface DeskSetup {
  readonly server: TestServer;
  readonly browser: TestBrowser;
}

/** Opens the desk and makes its operator available. */
export async function openDesk(
  room: DeskSetup,
  options: Json = {},
  at: { url: string } = room.server,
): Promise<DeskPage> {
  const { server, browser } = room;
  const staffed = await makeStaffedQueue(server);
  const opened = await openConsole({ browser, server: at, key: staffed.operator.key, path: '/desk', options });
  opened.page.setDefaultTimeout(patienceMs);
  await available(opened.page).click();
  await opened.page.getByText('Waiting for visitors. Keep this page open.').waitFor();
  return { ...staffed, ...opened, server };
}

const available = (page: Page): Locator => page.getByRole('switch', { name: 'Available' });
export const offers = (page: Page): Locator => page.getByRole('region', { name: 'Offers' });
export const messageList = (page: Page): Locator => page.getByRole('region', { name: 'Messages' });
export const composer = (page: Page): Locator => page.getByRole('textbox', { name: 'Message', exact: true });

/** Creates a visitor with this name and puts them into the queue. */
export async function enterQueue(
  { own, queue, server }: DeskPage,
  name: string,
  ticketFields: Json = {},
): Promise<{ visitor: TestVisitor; ticket: string }> {
  const visitor = await makeVisitor(server, own);
  const path = `/sites/${own.siteId}/visitors/${visitor.id}`;
  expectStatus(await call(server, `PATCH ${path}`, { token: visitor.token, body: { name } }), 200);
  const answer = await requestTicket(server, own, { queue_ids: [queue], ...ticketFields }, visitor);
  return { visitor, ticket: expectStatus(answer, 201).body.id };
}

/** Puts a visitor into the queue and accepts the offer by keyboard shortcut. Returns the engagement. */
export async function acceptVisitor(
  at: DeskPage,
  name: string,
  ticketFields: Json = {},
): Promise<{ id: string; visitor: TestVisitor }> {
  const before = at.page.url();
  const { visitor } = await enterQueue(at, name, ticketFields);
  await offers(at.page).getByText(name).waitFor();
  await at.page.keyboard.press('Alt+A');
  await at.page.waitForURL((url) => String(url) !== before && /\/desk\/[0-9a-f-]{36}$/.test(url.pathname));
  await at.page.getByRole('heading', { name }).waitFor();
  return { id: at.page.url().slice(-36), visitor };
}

export async function say({ server }: DeskPage, id: string, { token }: { token: string }, body: Json): Promise<string> {
  const sent = typeof body === 'string' ? { content: body } : body;
  const answer = await call(server, `PUT /engagements/${id}/chat_messages/${randomUUID()}`, { token, body: sent });
  return expectStatus(answer, 200).body.id;
}

export async function transcript({ server }: DeskPage, id: string, { token }: { token: string }): Promise<Json[]> {
  return expectStatus(await call(server, `GET /engagements/${id}/chat_transcript`, { token }), 200).body;
}

export async function contents(at: DeskPage, id: string, who: { token: string }): Promise<string[]> {
  return (await transcript(at, id, who)).map(({ content }) => content);
}
