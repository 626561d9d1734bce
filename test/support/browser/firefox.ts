import { launch, type ElementHandle, type Page } from 'puppeteer-core';
import { findProgram } from '../processes/programs.ts';
import { RemotePage, type Driver, type Key, type RemoteBrowser } from './remote-browser.ts';
import type { Json } from '../server.ts';

export function findFirefox(): string | null {
  return findProgram('firefox-esr') ?? findProgram('firefox');
}

type Preferences = Readonly<Record<string, string | number | boolean>>;

const preferences: Preferences = {
  'browser.shell.checkDefaultBrowser': false,
  'browser.startup.page': 0,
  'browser.newtabpage.enabled': false,
  'datareporting.policy.dataSubmissionEnabled': false,
  'app.normandy.enabled': false,
  'app.update.disabledForTesting': true,
  'network.captive-portal-service.enabled': false,
  'network.connectivity-service.enabled': false,
  'browser.safebrowsing.downloads.remote.enabled': false,
  'services.settings.server': 'data:,#remote-settings-dummy/v1',
  'ui.prefersReducedMotion': 1,
  // A mouse: fine pointer (2) with hover (4).
  'ui.primaryPointerCapabilities': 6,
  // Simulated devices with permission, and connections to the same machine.
  'media.navigator.streams.fake': true,
  'media.navigator.permission.disabled': true,
  'media.autoplay.default': 0,
  'media.peerconnection.ice.loopback': true,
  'media.peerconnection.ice.obfuscate_host_addresses': false,
};

/** Starts Debian's Firefox, which Puppeteer controls by WebDriver BiDi. Playwright needs a Firefox of its own. */
export async function openFirefox(more: Preferences = {}): Promise<RemoteBrowser> {
  const executablePath = findFirefox();
  if (executablePath === null) throw new Error('No Firefox found. Run npm test, which installs it or says how to.');
  const browser = await launch({
    browser: 'firefox',
    executablePath,
    extraPrefsFirefox: { ...preferences, ...more },
    defaultViewport: { width: 1_280, height: 800 },
  });
  return {
    async newPage() {
      const context = await browser.createBrowserContext();
      const page = await context.newPage();
      // Only the active window receives keys.
      await page.bringToFront();
      return new RemotePage(new FirefoxPage(page));
    },
    [Symbol.asyncDispose]: async () => browser.close(),
  };
}

class FirefoxPage implements Driver {
  readonly #page: Page;

  constructor(page: Page) {
    this.#page = page;
  }

  async goto(url: string): Promise<void> {
    await this.#page.goto(url);
  }

  async reload(): Promise<void> {
    await this.#page.reload();
  }

  async evaluate(expression: string): Promise<Json> {
    return this.#page.evaluate(expression);
  }

  async click(x: number, y: number): Promise<void> {
    await this.#page.mouse.click(x, y);
  }

  async press(key: Key): Promise<void> {
    await this.#page.keyboard.press(key);
  }

  async type(text: string): Promise<void> {
    await this.#page.keyboard.type(text);
  }

  async chooseFile(expression: string, path: string): Promise<void> {
    const input = (await this.#page.evaluateHandle(expression)) as ElementHandle;
    await input.uploadFile(path);
  }
}
