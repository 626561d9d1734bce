import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openBrowser } from '../support/browser/browser.ts';
import { openConsole } from '../support/browser/console.ts';
import { forThisFile } from '../support/fixture.ts';
import { startTestServer } from '../support/server.ts';
import { makeAccount } from '../support/world.ts';

const server = await forThisFile(startTestServer());
const browser = await forThisFile(openBrowser());

for (const [reducedMotion, moves] of [
  ['reduce', false],
  ['no-preference', true],
] as const)
  test(`a dialog ${moves ? 'moves' : 'does not move'} into place with prefers-reduced-motion: ${reducedMotion}`, async () => {
    const { key, siteId } = await makeAccount(server);
    const { page, complaints } = await openConsole({
      browser,
      server,
      key,
      path: `/sites/${siteId}`,
      options: { reducedMotion },
    });
    await page.evaluate(`
      globalThis.moved = false;
      new MutationObserver(() => (globalThis.moved ||= document.querySelector('[role=dialog][style*=transition]') !== null))
        .observe(document.body, { subtree: true, childList: true, attributes: true });`);
    await page.getByRole('button', { name: 'Delete site' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    assert.equal(await page.evaluate('globalThis.moved'), moves);
    assert.deepEqual(complaints, []);
  });
