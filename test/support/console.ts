import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { comesTrue, type TestBrowser, type TestPage } from './browser.ts';

interface Opening {
  readonly browser: TestBrowser;
  readonly server: { readonly url: string };
  /** Of the operator who signs in. */
  readonly key: { readonly id: string; readonly secret: string };
  /** Of the page in the console, `/board` say. */
  readonly path?: string;
  readonly options?: BrowserContextOptions;
}

/** The console in a browser of its own, signed in, on a page. */
export async function openConsole({ browser, server, key, path = '/', options = {} }: Opening): Promise<TestPage> {
  const opened = await browser.newPage(options);
  const answer = await opened.context.request.post(`${server.url}/operator_authentication/sessions`, {
    data: { api_key_id: key.id, api_key_secret: key.secret },
  });
  if (!answer.ok()) throw new Error(`signing in was answered ${answer.status()}: ${await answer.text()}`);
  await opened.page.goto(`${server.url}/console${path}`);
  return opened;
}

/** Every page of the menu and each form for something new, with its heading. */
export const everyPage = [
  { path: '/board', heading: 'Live board' },
  { path: '/desk', heading: 'Desk' },
  { path: '/timeline', heading: 'Timeline' },
  { path: '/queues', heading: 'Queues' },
  { path: '/queues/new', heading: 'New queue' },
  { path: '/hours', heading: 'Hours' },
  { path: '/hours/new', heading: 'New hours' },
  { path: '/webhooks', heading: 'Webhooks' },
  { path: '/webhooks/new', heading: 'New webhook' },
  { path: '/webhooks/catalogue', heading: 'Event catalogue' },
  { path: '/people', heading: 'People' },
  { path: '/people/new', heading: 'New operator' },
  { path: '/people/teams', heading: 'People' },
  { path: '/sites', heading: 'Sites' },
  { path: '/sites/new', heading: 'New site' },
  { path: '/audit', heading: 'Audit log' },
  { path: '/account', heading: 'Password and sessions' },
] as const;

/** Opens another page of a console that is already loaded, as a link in it would, and waits until it has its data. */
export async function openPath(page: Page, path: string, heading: string): Promise<void> {
  await page.evaluate(`history.pushState(null, '', ${JSON.stringify(`/console${path}`)})`);
  await page.getByRole('heading', { name: heading, level: 1 }).waitFor();
  await comesTrue(page, `document.querySelector('[aria-label="Loading"]') === null`);
}

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Both schemes and both ends of the widths, in two looks instead of four. */
export const looks = [
  { where: 'in light, on a desk', colorScheme: 'light', viewport: { width: 1_280, height: 800 } },
  { where: 'in dark, on a phone', colorScheme: 'dark', viewport: { width: 375, height: 700 } },
] as const;

/** What keeps people from using the page, by axe-core: serious and critical ones, each with where it is. */
export async function barriersOf(page: Page): Promise<string[]> {
  await page.evaluate(axe);
  return page.evaluate(async () => {
    const { axe: checker } = globalThis as unknown as {
      axe: {
        run(
          options: object,
        ): Promise<{ violations: { id: string; impact: string; help: string; nodes: { html: string }[] }[] }>;
      };
    };
    const { violations } = await checker.run({ resultTypes: ['violations'] });
    return violations
      .filter(({ impact }) => impact === 'serious' || impact === 'critical')
      .map(({ id, help, nodes }) => `${id}: ${help}: ${nodes.map(({ html }) => html.slice(0, 200)).join(' | ')}`);
  });
}

/** What sticks out of the page at its right, while it can be scrolled there. */
export async function tooWideOn(page: Page): Promise<string[]> {
  return page.evaluate(`(() => {
    if (document.documentElement.scrollWidth <= innerWidth) return [];
    const all = [...document.querySelectorAll('*')];
    return all.filter((each) => each.getBoundingClientRect().right > innerWidth).map((each) => each.outerHTML.slice(0, 200));
  })()`);
}
