import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { freePort } from './process.ts';
import { findProgram } from './programs.ts';
import { longestRunMs, RemotePage, type Driver, type RemoteBrowser } from './remote-browser.ts';
import { until, type Json } from './server.ts';

const driverName = 'WebKitWebDriver';
const displayName = 'Xvfb';

/** WebKit draws on a display; where there is none, on one that nobody sees. */
export function findWebkit(): string | null {
  return findProgram(displayName) === null ? null : findProgram(driverName);
}

/** Without a graphics card, composing layers takes the processor several times as long as drawing them at once. */
const environment = { GDK_BACKEND: 'x11', LANG: 'C.UTF-8', WEBKIT_DISABLE_COMPOSITING_MODE: '1' };

/** Debian's WebKit, in the small browser that comes with it. Its driver speaks the classic WebDriver protocol. */
export async function openWebkit(): Promise<RemoteBrowser> {
  const program = findWebkit();
  if (program === null) throw new Error('No WebKit was found: npm test installs it, or says how to.');
  const home = mkdtempSync(join(tmpdir(), 'usher-webkit-'));
  const display = await openDisplay();
  const port = await freePort();
  const driver = spawn(program, [`--port=${port}`], {
    env: { ...process.env, ...environment, HOME: home, DISPLAY: display.name },
    stdio: 'ignore',
    timeout: longestRunMs,
  });
  const url = `http://127.0.0.1:${port}`;
  await until(async () => (await fetch(`${url}/status`).catch(() => null))?.ok === true);
  // One session at a time: the next page ends the one before.
  let session: string | null = null;
  const leave = async (): Promise<void> => {
    if (session !== null) await ask(`DELETE ${session}`);
    session = null;
  };
  return {
    async newPage() {
      await leave();
      const { sessionId } = await ask(`POST ${url}/session`, { capabilities: {} });
      session = `${url}/session/${sessionId}`;
      return new RemotePage(new WebkitPage(session));
    },
    async [Symbol.asyncDispose]() {
      try {
        await leave();
      } finally {
        await end(driver);
        // Windows that are still open end with their display.
        await end(display.server);
        rmSync(home, { recursive: true, force: true, maxRetries: 3 });
      }
    },
  };
}

async function openDisplay(): Promise<{ readonly name: string; readonly server: ChildProcess }> {
  // It writes the number that it found free to the file of this number.
  const server = spawn(displayName, ['-displayfd', '3', '-screen', '0', '1280x900x24', '-nolisten', 'tcp'], {
    stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
    timeout: longestRunMs,
  });
  const [number] = (await once(server.stdio[3] as Readable, 'data')) as [Buffer];
  return { name: `:${number.toString().trim()}`, server };
}

async function end(child: ChildProcess): Promise<void> {
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await ended;
}

/** A page that does not come to rest must not hold up the tests. */
const longestMs = 20_000;

/** A command of WebDriver and its answer, by https://www.w3.org/TR/webdriver2/. */
async function ask(request: string, body?: object): Promise<Json> {
  const [method = '', url = ''] = request.split(' ');
  const signal = AbortSignal.timeout(longestMs);
  const response = await fetch(url, { method, signal, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
  const { value } = (await response.json()) as { value: Json };
  if (!response.ok) throw new Error(`${request}: ${value.error}: ${value.message}`);
  return value;
}

class WebkitPage implements Driver {
  readonly #session: string;

  constructor(session: string) {
    this.#session = session;
  }

  async goto(url: string): Promise<void> {
    await ask(`POST ${this.#session}/url`, { url });
  }

  async reload(): Promise<void> {
    await ask(`POST ${this.#session}/refresh`, {});
  }

  async evaluate(expression: string): Promise<Json> {
    return ask(`POST ${this.#session}/execute/sync`, { script: `return ${expression}`, args: [] });
  }

  async perform(actions: readonly object[]): Promise<void> {
    await ask(`POST ${this.#session}/actions`, { actions });
  }

  async chooseFile(expression: string, path: string): Promise<void> {
    const [element] = Object.values<string>(await this.evaluate(expression));
    await ask(`POST ${this.#session}/element/${element}/value`, { text: path });
  }
}
