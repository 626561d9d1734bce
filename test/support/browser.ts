import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium, type Browser, type BrowserContext, type BrowserContextOptions, type Page } from 'playwright-core';
import { until } from './server.ts';

/** For tests in a browser that belong to the long form, `npm run prove`: every page has others in the short one. */
export const proof = { skip: process.env['PROVE'] === undefined };

/** The system's browsers; first the one without windows, which asks a third less of the machine. */
const installed = [
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/usr/bin/google-chrome-stable',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
];

/** What is named, else Playwright's own browser where it was installed, else the system's. */
export function findBrowser(): string | null {
  return (
    [process.env['CHROMIUM'] ?? '', chromium.executablePath(), ...installed].find((path) => existsSync(path)) ?? null
  );
}

export interface TestBrowser {
  readonly browser: Browser;
  /** A context of its own, with its own cookies, and one page in it. What a page complains of fails the test: see `complaints`. */
  newPage(options?: BrowserContextOptions): Promise<TestPage>;
  [Symbol.asyncDispose](): Promise<void>;
}

export interface TestPage {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Errors thrown in the page, and what its security policy refused: to be empty at the end of a test. */
  readonly complaints: string[];
}

/** Calls need no microphone and nobody to allow it: devices and permission are Chromium's own pretence. */
const options = [
  // Few pictures a second: nobody looks, and each is drawn and packed by the processor.
  '--use-fake-device-for-media-stream=fps=5',
  '--use-fake-ui-for-media-stream',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
  '--disable-gpu',
  '--autoplay-policy=no-user-gesture-required',
];

/** Real Chromium. `npm test` has made sure that there is one: see scripts/install-test-tools.ts. */
export async function openBrowser(): Promise<TestBrowser> {
  const executablePath = findBrowser();
  if (executablePath === null) throw new Error('No Chromium was found. Install one, or name it by CHROMIUM.');
  const asRoot = process.getuid?.() === 0;
  const home = mkdtempSync(join(tmpdir(), 'usher-browser-'));
  const browser = await chromium.launch({
    executablePath,
    chromiumSandbox: !asRoot,
    args: options,
    env: { ...process.env, HOME: home },
  });
  return {
    browser,
    async newPage(contextOptions = {}) {
      // Nobody watches things glide in, and a test would wait for them to come to rest.
      const still = { reducedMotion: 'reduce' } as const;
      const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...still, ...contextOptions });
      const page = await context.newPage();
      const complaints: string[] = [];
      page.on('pageerror', (error) => complaints.push(String(error)));
      page.on('console', (message) => {
        if (/Content Security Policy|Minified React error/.test(message.text())) complaints.push(message.text());
      });
      return { page, context, complaints };
    },
    async [Symbol.asyncDispose]() {
      await browser.close();
      rmSync(home, { recursive: true, force: true, maxRetries: 3 });
    },
  };
}

/** Waits until an expression is true in the page. Playwright's own way asks the page to evaluate text, which its policy forbids. */
export async function comesTrue(page: Page, expression: string): Promise<void> {
  await until(async () => page.evaluate<boolean>(`Boolean(${expression})`));
}
