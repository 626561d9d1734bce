import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { freePort } from '../network/free-port.ts';
import { findProgram } from '../processes/programs.ts';
import { longestRunMs, RemotePage, type Driver, type Key, type RemoteBrowser } from './remote-browser.ts';
import { until, type Json } from '../server.ts';

const driverName = 'WebKitWebDriver';
const displayName = 'Xvfb';

/** WebKit needs a display, so it needs Xvfb, which is a virtual one. */
export function findWebkit(): string | null {
  return findProgram(displayName) === null ? null : findProgram(driverName);
}

/** Without a graphics card, compositing takes several times as much processor time as direct drawing. */
const environment = { GDK_BACKEND: 'x11', LANG: 'C.UTF-8', WEBKIT_DISABLE_COMPOSITING_MODE: '1' };

/** Starts Debian's WebKit in its MiniBrowser. Its driver uses the classic WebDriver protocol. */
export async function openWebkit(): Promise<RemoteBrowser> {
  const program = findWebkit();
  if (program === null) throw new Error('No WebKit found. Run npm test, which installs it or says how to.');
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
  // The driver has one session at a time: a new page ends the previous one.
  let session: string | null = null;
  const endSession = async (): Promise<void> => {
    if (session !== null) await send(`DELETE ${session}`);
    session = null;
  };
  return {
    async newPage() {
      await endSession();
      const { sessionId } = await send(`POST ${url}/session`, { capabilities: {} });
      session = `${url}/session/${sessionId}`;
      return new RemotePage(new WebkitPage(session));
    },
    async [Symbol.asyncDispose]() {
      try {
        await endSession();
      } finally {
        await terminate(driver);
        // Windows that are still open close with their display.
        await terminate(display.server);
        rmSync(home, { recursive: true, force: true, maxRetries: 3 });
      }
    },
  };
}

async function openDisplay(): Promise<{ readonly name: string; readonly server: ChildProcess }> {
  // Xvfb chooses a free display and writes its number to file descriptor 3.
  const server = spawn(displayName, ['-displayfd', '3', '-screen', '0', '1280x900x24', '-nolisten', 'tcp'], {
    stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
    timeout: longestRunMs,
  });
  const [number] = (await once(server.stdio[3] as Readable, 'data')) as [Buffer];
  return { name: `:${number.toString().trim()}`, server };
}

async function terminate(child: ChildProcess): Promise<void> {
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await ended;
}

/** A command that takes longer fails. */
const timeoutMs = 20_000;

/** Sends a command of WebDriver, https://www.w3.org/TR/webdriver2/. */
async function send(request: string, body?: object): Promise<Json> {
  const [method = '', url = ''] = request.split(' ');
  const signal = AbortSignal.timeout(timeoutMs);
  const response = await fetch(url, { method, signal, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
  const { value } = (await response.json()) as { value: Json };
  if (!response.ok) throw new Error(`${request}: ${value.error}: ${value.message}`);
  return value;
}

/** Codes of keys, as in https://www.w3.org/TR/webdriver2/#keyboard-actions. */
const keyCodes: Readonly<Record<Key, string>> = { Tab: '\uE004', Enter: '\uE007', Escape: '\uE00C' };

class WebkitPage implements Driver {
  readonly #session: string;

  constructor(session: string) {
    this.#session = session;
  }

  async goto(url: string): Promise<void> {
    await send(`POST ${this.#session}/url`, { url });
  }

  async reload(): Promise<void> {
    await send(`POST ${this.#session}/refresh`, {});
  }

  async evaluate(expression: string): Promise<Json> {
    return send(`POST ${this.#session}/execute/sync`, { script: `return ${expression}`, args: [] });
  }

  async click(x: number, y: number): Promise<void> {
    await this.#perform({
      type: 'pointer',
      id: 'mouse',
      parameters: { pointerType: 'mouse' },
      actions: [
        { type: 'pointerMove', x, y, duration: 0 },
        { type: 'pointerDown', button: 0 },
        { type: 'pointerUp', button: 0 },
      ],
    });
  }

  async press(key: Key): Promise<void> {
    await this.type(keyCodes[key]);
  }

  async type(text: string): Promise<void> {
    const actions = text.split('').flatMap((value) => [
      { type: 'keyDown', value },
      { type: 'keyUp', value },
    ]);
    await this.#perform({ type: 'key', id: 'keyboard', actions });
  }

  async chooseFile(expression: string, path: string): Promise<void> {
    const [element] = Object.values<string>(await this.evaluate(expression));
    await send(`POST ${this.#session}/element/${element}/value`, { text: path });
  }

  /** Input actions, as in https://www.w3.org/TR/webdriver2/#actions. */
  async #perform(source: object): Promise<void> {
    await send(`POST ${this.#session}/actions`, { actions: [source] });
  }
}
