import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import type { Page } from 'playwright-core';
import { comesTrue } from './browser.ts';
import { until, type Json } from '../server.ts';

/** How long to wait for a step of a call. */
export const callTimeoutMs = 30_000;

/** Resolves imports of other packages, as the bundlers do. */
const imports = JSON.stringify({ imports: { '@usher/client/': '/call/client/', '@usher/sdk/': '/call/sdk/' } });

/** One side of a call: controls a page that runs packages/call/test/harness.ts. */
export class Caller {
  readonly page: Page;
  readonly #joinOptions: Json;
  readonly #url: string;

  constructor(page: Page, url: string, joinOptions: Json) {
    this.page = page;
    this.#url = url;
    this.#joinOptions = joinOptions;
  }

  /** Serves the sources of packages/call, without their types, from the origin of the server, and opens the harness. */
  async open(): Promise<void> {
    await this.page.route(`${this.#url}/call/**`, async (route) => {
      const path = new URL(route.request().url()).pathname.replace('/call/', '');
      if (path === '') {
        const body = `<!doctype html><title>Call</title><script type="importmap">${imports}</script>
          <script type="module" src="test/harness.ts"></script>`;
        return route.fulfill({ contentType: 'text/html', body });
      }
      const file = /^(?:client|sdk)\//.test(path) ? `${path.replace('/', '/src/')}.ts` : `call/${path}`;
      const body = stripTypeScriptTypes(readFileSync(`packages/${file}`, 'utf8'));
      return route.fulfill({ contentType: 'text/javascript', body });
    });
    await this.page.goto(`${this.#url}/call/`);
    await comesTrue(this.page, 'window.harness !== undefined');
  }

  async join(): Promise<void> {
    await this.do(`join(${JSON.stringify(this.#joinOptions)})`);
  }

  async do<T = Json>(expression: string): Promise<T> {
    return this.page.evaluate<T>(`window.harness.${expression}`);
  }

  async view(): Promise<Json> {
    return this.do('snapshot()');
  }

  async untilState(name: string): Promise<Json> {
    await this.untilView(({ state }) => state.name === name, name);
    return this.view();
  }

  async untilView(matches: (view: Json) => boolean, expected: string): Promise<void> {
    let view: Json = null;
    const isMatching = async (): Promise<boolean> => matches((view = await this.view()));
    await until(isMatching, callTimeoutMs).catch(() =>
      assert.fail(`expected ${expected}, got ${JSON.stringify(view)}`),
    );
  }

  /** Waits until this side has received more than `min` of the given measure. */
  async untilMore(measure: 'energy' | 'audioBytes' | 'frames', min = 0): Promise<void> {
    const before = (await this.do('measure()'))[measure];
    const hasMore = async (): Promise<boolean> => (await this.do('measure()'))[measure] > before + min;
    await until(hasMore, callTimeoutMs).catch(() => assert.fail(`${measure} stayed at ${before}`));
  }
}
