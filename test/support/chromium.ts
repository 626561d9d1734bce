import type { Page } from 'playwright-core';
import { openBrowser } from './browser.ts';
import { RemotePage, type Driver, type RemoteBrowser } from './remote-browser.ts';

interface Action {
  readonly type: string;
  readonly x?: number;
  readonly y?: number;
  readonly value?: string;
}

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

  async perform(sources: readonly { readonly actions: readonly Action[] }[]): Promise<void> {
    const { mouse, keyboard } = this.#page;
    for (const { type, x = 0, y = 0, value = '' } of sources.flatMap(({ actions }) => actions)) {
      if (type === 'pointerMove') await mouse.move(x, y);
      if (type === 'pointerDown') await mouse.down();
      if (type === 'pointerUp') await mouse.up();
      if (type === 'keyDown') await keyboard.insertText(value);
    }
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
