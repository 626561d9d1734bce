import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium, type Browser, type BrowserContext, type BrowserContextOptions, type Page } from 'playwright-core';
import { until } from '../server.ts';

/** Browsers of the system. The headless shell is first: it needs a third less processor time. */
const installed = [
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/usr/bin/google-chrome-stable',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
];

/** The browser named by CHROMIUM, or Playwright's own if it is installed, or the system's. */
export function findBrowser(): string | null {
  return (
    [process.env['CHROMIUM'] ?? '', chromium.executablePath(), ...installed].find((path) => existsSync(path)) ?? null
  );
}

export interface TestBrowser {
  readonly browser: Browser;
  /** Opens a page in a new context with its own cookies. */
  newPage(options?: BrowserContextOptions): Promise<TestPage>;
  [Symbol.asyncDispose](): Promise<void>;
}

export interface TestPage {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Errors thrown in the page, and violations of its security policy. A test asserts that there are none. */
  readonly complaints: string[];
}

/** Chromium simulates microphone, camera and the permission to use them. */
const launchArguments = [
  // A low frame rate, because the processor draws and encodes every frame.
  '--use-fake-device-for-media-stream=fps=5',
  '--use-fake-ui-for-media-stream',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
  '--disable-gpu',
  '--autoplay-policy=no-user-gesture-required',
];

/** How long an element may take to appear. Four browsers draw at once on two processors, or on less if the machine is busy. */
const actionMs = 120_000;

/** Starts Chromium. `npm test` installs it: see scripts/install-test-tools.ts. */
export async function openBrowser(): Promise<TestBrowser> {
  const executablePath = findBrowser();
  if (executablePath === null) throw new Error('No Chromium found. Install Chromium, or set CHROMIUM to its path.');
  const isRoot = process.getuid?.() === 0;
  const home = mkdtempSync(join(tmpdir(), 'usher-browser-'));
  const browser = await chromium.launch({
    executablePath,
    chromiumSandbox: !isRoot,
    args: launchArguments,
    env: { ...process.env, HOME: home },
  });
  return {
    browser,
    async newPage(contextOptions = {}) {
      // No CSS transitions: a test would wait for them to end.
      const noMotion = { reducedMotion: 'reduce' } as const;
      const context = await browser.newContext({
        viewport: { width: 1280, height: 800 },
        ...noMotion,
        ...contextOptions,
      });
      context.setDefaultTimeout(actionMs);
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

/** Waits until an expression is true in the page. Playwright's `waitForFunction` uses `eval`, which the page's policy forbids. */
export async function comesTrue(page: Page, expression: string): Promise<void> {
  await until(async () => page.evaluate<boolean>(`Boolean(${expression})`));
}
