import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { comesTrue, type TestBrowser, type TestPage } from './browser.ts';
import { isProof } from '../proof.ts';

interface Opening {
  readonly browser: TestBrowser;
  readonly server: { readonly url: string };
  /** The API key of the operator who signs in. */
  readonly key: { readonly id: string; readonly secret: string };
  /** The path of the page in the console, for example `/board`. */
  readonly path?: string;
  readonly options?: BrowserContextOptions;
}

/** Opens a page of the console in a new browser context, signed in. */
export async function openConsole({ browser, server, key, path = '/', options = {} }: Opening): Promise<TestPage> {
  const opened = await browser.newPage(options);
  const answer = await opened.context.request.post(`${server.url}/operator_authentication/sessions`, {
    data: { api_key_id: key.id, api_key_secret: key.secret },
  });
  if (!answer.ok()) throw new Error(`signing in failed with ${answer.status()}: ${await answer.text()}`);
  await opened.page.goto(`${server.url}/console${path}`);
  return opened;
}

/** Every page of the menu, and every page that creates something. */
export const everyPath = [
  '/board',
  '/desk',
  '/timeline',
  '/queues',
  '/queues/new',
  '/hours',
  '/hours/new',
  '/webhooks',
  '/webhooks/new',
  '/webhooks/catalogue',
  '/people',
  '/people/new',
  '/people/teams',
  '/sites',
  '/sites/new',
  '/audit',
  '/account',
] as const;

/**
 * Opens another page of a loaded console, as a link would, and waits until its data is there. The router renders at once: the new page
 * is there, or an element labelled Loading.
 */
export async function openPath(page: Page, path: string): Promise<void> {
  await page.evaluate(`history.pushState(null, '', ${JSON.stringify(`/console${path}`)})`);
  const isLoading = `[...document.querySelectorAll('[aria-label="Loading"]')].some((each) => each.checkVisibility())`;
  await comesTrue(page, `!${isLoading} && document.querySelector('main h1')?.checkVisibility()`);
}

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

const desk = { where: 'in light, on a desk', colorScheme: 'light', viewport: { width: 1_280, height: 800 } } as const;
const phone = { where: 'in dark, on a phone', colorScheme: 'dark', viewport: { width: 375, height: 700 } } as const;

/**
 * How pages are checked for accessibility: with `npm run prove` in both colour schemes and both widths, in two combinations instead of
 * four, otherwise in one.
 */
export const looks = isProof ? [desk, phone] : [desk];

/** A colour that is still changing has another contrast than the one that stays. Spinners have no end. */
const animationsEnded = `Promise.all(
  document.getAnimations()
    .filter(({ effect }) => effect.getComputedTiming().iterations !== Infinity)
    .map(({ finished }) => finished.catch(() => undefined)),
).then(() => undefined)`;

/**
 * The serious and critical accessibility violations on the page that axe-core finds, each with its element. Every rule of axe-core has
 * one impact, so rules of another impact cannot find any and are not run.
 */
export async function barriersOf(page: Page): Promise<string[]> {
  await page.evaluate(animationsEnded);
  // axe-core is half a megabyte, so it is loaded once per page.
  if (!(await page.evaluate<boolean>(`'axe' in window`))) await page.evaluate(axe);
  return page.evaluate(async () => {
    const { axe: checker } = globalThis as unknown as {
      axe: {
        _audit: { rules: { id: string; impact: string }[] };
        run(
          options: object,
        ): Promise<{ violations: { id: string; impact: string; help: string; nodes: { html: string }[] }[] }>;
      };
    };
    const isBarrier = ({ impact }: { impact: string }): boolean => impact === 'serious' || impact === 'critical';
    // The public list of rules does not have their impact.
    // oxlint-disable-next-line no-underscore-dangle
    const others = checker._audit.rules.filter((rule) => !isBarrier(rule));
    const rules = Object.fromEntries(others.map(({ id }) => [id, { enabled: false }]));
    const { violations } = await checker.run({ resultTypes: ['violations'], rules });
    return violations
      .filter(isBarrier)
      .map(({ id, help, nodes }) => `${id}: ${help}: ${nodes.map(({ html }) => html.slice(0, 200)).join(' | ')}`);
  });
}

/**
 * The share of pixels that differ clearly between two pictures of the same size: by more than a quarter of the brightness range. The
 * pictures are decoded in a new page, because the console's security policy blocks them.
 */
export async function differenceOf(context: BrowserContext, one: Buffer, other: Buffer): Promise<number> {
  const page = await context.newPage();
  const share = await page.evaluate<number>(`(async () => {
    const [one, other] = await Promise.all(${JSON.stringify([one.toString('base64'), other.toString('base64')])}.map(async (text) => {
      const bytes = Uint8Array.from(atob(text), (each) => each.charCodeAt(0));
      const picture = await createImageBitmap(new Blob([bytes], { type: 'image/png' }));
      const drawing = new OffscreenCanvas(picture.width, picture.height).getContext('2d');
      drawing.drawImage(picture, 0, 0);
      return drawing.getImageData(0, 0, picture.width, picture.height);
    }));
    if (one.width !== other.width || one.height !== other.height) throw new Error('pictures of different sizes');
    const brightness = ({ data }, at) => 0.3 * data[at] + 0.6 * data[at + 1] + 0.1 * data[at + 2];
    let different = 0;
    for (let at = 0; at < one.data.length; at += 4)
      if (Math.abs(brightness(one, at) - brightness(other, at)) > 64) different += 1;
    return different / (one.width * one.height);
  })()`);
  await page.close();
  return share;
}

/** The elements that make the page wider than the window. */
export async function tooWideOn(page: Page): Promise<string[]> {
  return page.evaluate(`(() => {
    if (document.documentElement.scrollWidth <= innerWidth) return [];
    const all = [...document.querySelectorAll('*')];
    return all.filter((each) => each.getBoundingClientRect().right > innerWidth).map((each) => each.outerHTML.slice(0, 200));
  })()`);
}
