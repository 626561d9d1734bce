import type { Page } from 'playwright-core';
import { openBrowser } from './browser.ts';
import { RemotePage, type Driver, type Key, type RemoteBrowser } from './remote-browser.ts';

/** Controls a page of Chromium like those of the other browsers, so that one test runs in all of them. */
class ChromiumPage implements Driver {
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

  async evaluate(expression: string): Promise<unknown> {
    return this.#page.evaluate(expression);
  }

  async click(x: number, y: number): Promise<void> {
    await this.#page.mouse.click(x, y);
  }

  async press(key: Key): Promise<void> {
    await this.#page.keyboard.press(key);
  }

  async type(text: string): Promise<void> {
    await this.#page.keyboard.insertText(text);
  }

  async chooseFile(): Promise<void> {
    return Promise.reject(new Error('Choose files with Playwright: see browser.ts.'));
  }
}

/** Starts Chromium behind the interface of the other browsers. */
export async function openChromium(): Promise<RemoteBrowser> {
  const browser = await openBrowser();
  return {
    newPage: async () => new RemotePage(new ChromiumPage((await browser.newPage()).page)),
    [Symbol.asyncDispose]: async () => browser[Symbol.asyncDispose](),
  };
}
