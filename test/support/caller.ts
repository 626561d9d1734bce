import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import type { Page } from 'playwright-core';
import { comesTrue } from './browser.ts';
import { until, type Json } from './server.ts';

export const patienceMs = 30_000;

/** Modules of other packages, as the bundlers find them. */
const imports = JSON.stringify({ imports: { '@usher/client/': '/call/client/' } });

/** One side of a call: the page of packages/call/test/harness.ts. */
export class Caller {
  readonly page: Page;
  readonly #joining: Json;
  readonly #url: string;

  constructor(page: Page, url: string, joining: Json) {
    this.page = page;
    this.#url = url;
    this.#joining = joining;
  }

  /** The module as it is, its types stripped, from the origin of the server. */
  async open(): Promise<void> {
    await this.page.route(`${this.#url}/call/**`, async (route) => {
      const path = new URL(route.request().url()).pathname.replace('/call/', '');
      if (path === '') {
        const body = `<!doctype html><title>Call</title><script type="importmap">${imports}</script>
          <script type="module" src="test/harness.ts"></script>`;
        return route.fulfill({ contentType: 'text/html', body });
      }
      const file = path.startsWith('client/') ? `${path.replace('client/', 'client/src/')}.ts` : `call/${path}`;
      const body = stripTypeScriptTypes(readFileSync(`packages/${file}`, 'utf8'));
      return route.fulfill({ contentType: 'text/javascript', body });
    });
    await this.page.goto(`${this.#url}/call/`);
    await comesTrue(this.page, 'window.harness !== undefined');
  }

  async join(): Promise<void> {
    await this.do(`join(${JSON.stringify(this.#joining)})`);
  }

  async do<T = Json>(what: string): Promise<T> {
    return this.page.evaluate<T>(`window.harness.${what}`);
  }

  async look(): Promise<Json> {
    return this.do('look()');
  }

  async untilState(name: string): Promise<Json> {
    await this.untilView(({ state }) => state.name === name, name);
    return this.look();
  }

  async untilView(fits: (view: Json) => boolean, what: string): Promise<void> {
    let view: Json = null;
    const isFitting = async (): Promise<boolean> => fits((view = await this.look()));
    await until(isFitting, patienceMs).catch(() => assert.fail(`${what} did not come: ${JSON.stringify(view)}`));
  }

  /** Waits until more of it has come in than there was. */
  async untilMore(what: 'energy' | 'audioBytes' | 'frames', least = 0): Promise<void> {
    const before = (await this.do('measure()'))[what];
    const hasMore = async (): Promise<boolean> => (await this.do('measure()'))[what] > before + least;
    await until(hasMore, patienceMs).catch(() => assert.fail(`no more ${what} than ${before}`));
  }
}
