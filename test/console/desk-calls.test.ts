import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { openBrowser } from '../support/browser/browser.ts';
import { Caller } from '../support/browser/caller.ts';
import { barriersOf } from '../support/browser/console.ts';
import { acceptVisitor, enterQueue, offers, openDesk, type DeskPage } from '../support/browser/desk.ts';
import { forThisFile } from '../support/fixture.ts';
import { call, startTestServer, until, type Json } from '../support/server.ts';
import { expectStatus } from '../support/world.ts';

const server = await forThisFile(startTestServer());
const browser = await forThisFile(openBrowser());

const audio = { audio: 'two_way', video: null };

async function requestCall(engagement: string, { token }: { token: string }): Promise<Json> {
  const path = `/engagements/${engagement}/media_upgrade_requests`;
  return (await call(server, `POST ${path}`, { token, body: audio })).body;
}

async function accept({ id, engagement_id: engagement }: Json, { token }: { token: string }): Promise<void> {
  const path = `/engagements/${engagement}/media_upgrade_requests/${id}`;
  expectStatus(await call(server, `PATCH ${path}`, { token, body: { action: 'accept' } }), 200);
}

/** Expects that the Call menu offers nothing and says why. */
async function expectNoCall(page: Page, reason: string): Promise<void> {
  await page.getByRole('button', { name: 'Call', exact: true }).click();
  const menu = page.getByRole('menu');
  await menu.getByText(reason).waitFor();
  for (const item of await menu.getByRole('menuitem').all()) assert.equal(await item.isDisabled(), true);
  assert.equal(await menu.getByRole('menuitem').count(), 3);
  await page.keyboard.press('Escape');
  await menu.waitFor({ state: 'detached' });
}

test('while a call is not possible, the desk says why instead of inviting the visitor', async () => {
  const at = await openDesk({ server, browser });
  const { page, own, operator } = at;
  const first = await acceptVisitor(at, 'Ada');
  const second = await acceptVisitor(at, 'Ben');
  const waiting = await requestCall(second.id, second.visitor);
  const accepts = page.getByRole('button', { name: 'Accept' });
  await page.getByText('The visitor wants to start an audio call.').waitFor();
  assert.equal(await accepts.isEnabled(), true);
  const invitation = await requestCall(first.id, operator);
  await page.getByText('You invited another visitor to a call.').waitFor();
  await expectNoCall(page, 'You invited another visitor to a call.');
  await accept(invitation, first.visitor);
  await page.getByText('You are in another call.').waitFor();
  assert.equal(await accepts.isDisabled(), true);
  await expectNoCall(page, 'You are in another call.');
  assert.equal((await requestCall(second.id, operator)).error, 'operator_unavailable');
  assert.deepEqual(await barriersOf(page), []);

  const { body: engagement } = await call(server, `GET /engagements/${first.id}`, operator);
  const hangUp = { token: first.visitor.token, body: { action: 'end' } };
  expectStatus(await call(server, `PATCH /engagements/${first.id}/calls/${engagement.calls[0].id}`, hangUp), 200);
  await until(async () => accepts.isEnabled());
  const strict = { token: own.admin, body: { calls_beside_chats: false } };
  expectStatus(await call(server, `PATCH /sites/${own.siteId}`, strict), 200);
  await page.reload();
  await expectNoCall(page, 'This site allows no calls beside other chats. End your other chats first.');
  expectStatus(await call(server, `PATCH /engagements/${first.id}`, hangUp), 200);
  await until(async () => accepts.isEnabled());
  await accept(waiting, operator);
  await page.getByRole('region', { name: 'Call' }).waitFor();
  assert.deepEqual(at.complaints, []);
});

/** A visitor calls from a page of their own, and the operator accepts. */
async function takeCall(at: DeskPage): Promise<{ engagementId: string; token: string }> {
  const { visitor } = await enterQueue(at, 'Cleo', { media: 'audio' });
  await offers(at.page).getByRole('button', { name: 'Accept call' }).click();
  await at.page.waitForURL(/\/desk\/[0-9a-f-]{36}$/);
  const engagementId = at.page.url().slice(-36);
  const { token } = visitor;
  const joinOptions = { token, engagementId, side: 'visitor', media: audio };
  const caller = new Caller((await browser.newPage()).page, server.url, joinOptions);
  await caller.open();
  await caller.join();
  await caller.untilState('connected');
  return { engagementId, token };
}

for (const from of ['the page of the call', 'another tab'] as const)
  test(`an operator who signs out in ${from} during a call hangs up: the visitor learns it at once`, async () => {
    const at = await openDesk({ server, browser });
    const { engagementId, token } = await takeCall(at);
    const page = from === 'another tab' ? await at.context.newPage() : at.page;
    if (page !== at.page) await page.goto(`${server.url}/console/desk`);
    await page.getByRole('list', { name: 'Conversations' }).getByText('Cleo').waitFor();
    await page.getByRole('button', { name: /^Account/ }).click();
    await page.getByRole('menuitem', { name: 'Sign out', exact: true }).click();
    await page.getByRole('button', { name: 'Sign in' }).waitFor();
    const { body } = await call(server, `GET /engagements/${engagementId}`, { token });
    assert.deepEqual([body.state, body.media, body.calls[0].ended_by], ['active', 'text', 'operator']);
    assert.deepEqual(at.complaints, []);
  });
