import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findProgram } from './programs.ts';
import { longestRunMs, RemotePage, type Driver, type RemoteBrowser } from './remote-browser.ts';
import type { Json } from './server.ts';

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

/** Starts Debian's Firefox, which supports WebDriver BiDi itself. */
export async function openFirefox(more: Preferences = {}): Promise<RemoteBrowser> {
  const program = findFirefox();
  if (program === null) throw new Error('No Firefox found. Run npm test, which installs it or says how to.');
  const home = mkdtempSync(join(tmpdir(), 'usher-firefox-'));
  const lines = Object.entries({ ...preferences, ...more }).map(
    ([name, value]) => `user_pref(${JSON.stringify(name)}, ${JSON.stringify(value)});\n`,
  );
  writeFileSync(join(home, 'user.js'), lines.join(''));
  const args = ['--headless', '--no-remote', '--profile', home, '--remote-debugging-port', '0'];
  const child = spawn(program, args, {
    env: { ...process.env, HOME: home },
    stdio: ['ignore', 'ignore', 'pipe'],
    timeout: longestRunMs,
  });
  const ended = once(child, 'exit');
  const bidi = await Bidi.connect(await addressOf(child.stderr));
  await bidi.send('session.new', { capabilities: {} });
  return {
    async newPage() {
      const { userContext } = await bidi.send('browser.createUserContext');
      const { context } = await bidi.send('browsingContext.create', { type: 'window', userContext });
      // Only the active window receives keys.
      await bidi.send('browsingContext.activate', { context });
      await bidi.send('browsingContext.setViewport', { context, viewport: { width: 1_280, height: 800 } });
      return new RemotePage(new FirefoxPage(bidi, context));
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await ended;
      rmSync(home, { recursive: true, force: true, maxRetries: 3 });
    },
  };
}

/** Firefox prints its address when it listens. */
async function addressOf(errors: NodeJS.ReadableStream): Promise<string> {
  let printed = '';
  for await (const chunk of errors) {
    printed += String(chunk);
    const [, address] = /WebDriver BiDi listening on (ws:\S+)/.exec(printed) ?? [];
    if (address !== undefined) return address;
  }
  throw new Error(`Firefox exited: ${printed}`);
}

/** Sends commands of WebDriver BiDi, https://www.w3.org/TR/webdriver-bidi/, and matches their responses by id. */
class Bidi {
  readonly #socket: WebSocket;
  readonly #pending = new Map<number, (answer: Json) => void>();
  #lastId = 0;

  constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.addEventListener('message', ({ data }) => {
      const answer: Json = JSON.parse(String(data));
      this.#pending.get(answer.id)?.(answer);
      this.#pending.delete(answer.id);
    });
    // Otherwise a test would wait for ever for a Firefox that was killed.
    socket.addEventListener('close', () => {
      for (const settle of this.#pending.values())
        settle({ type: 'error', error: 'closed', message: 'Firefox exited' });
    });
  }

  static async connect(address: string): Promise<Bidi> {
    const socket = new WebSocket(`${address}/session`);
    await new Promise((resolve, reject) => {
      socket.addEventListener('open', resolve);
      socket.addEventListener('error', () => reject(new Error(`could not connect to ${address}`)));
    });
    return new Bidi(socket);
  }

  async send(method: string, params: object = {}): Promise<Json> {
    const id = (this.#lastId += 1);
    const answer = await new Promise<Json>((resolve) => {
      this.#pending.set(id, resolve);
      this.#socket.send(JSON.stringify({ id, method, params }));
    });
    if (answer.type === 'error') throw new Error(`${method}: ${answer.error}: ${answer.message}`);
    return answer.result;
  }
}

class FirefoxPage implements Driver {
  readonly #bidi: Bidi;
  readonly #context: string;

  constructor(bidi: Bidi, context: string) {
    this.#bidi = bidi;
    this.#context = context;
  }

  async goto(url: string): Promise<void> {
    await this.#bidi.send('browsingContext.navigate', { context: this.#context, url, wait: 'complete' });
  }

  async reload(): Promise<void> {
    await this.#bidi.send('browsingContext.reload', { context: this.#context, wait: 'complete' });
  }

  async evaluate(expression: string): Promise<Json> {
    const { value } = await this.#run(`(async () => JSON.stringify((await ${expression}) ?? null))()`);
    return JSON.parse(value);
  }

  async perform(actions: readonly object[]): Promise<void> {
    await this.#bidi.send('input.performActions', { context: this.#context, actions });
  }

  async chooseFile(expression: string, path: string): Promise<void> {
    const { sharedId } = await this.#run(expression);
    await this.#bidi.send('input.setFiles', { context: this.#context, element: { sharedId }, files: [path] });
  }

  async #run(expression: string): Promise<Json> {
    const target = { context: this.#context };
    const answer = await this.#bidi.send('script.evaluate', { expression, target, awaitPromise: true });
    if (answer.type === 'exception') throw new Error(`${expression}: ${answer.exceptionDetails.text}`);
    return answer.result;
  }
}
