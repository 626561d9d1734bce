import { StartError } from '../platform/errors.ts';
import { serverUrl } from '../platform/server-url.ts';
import { command, print } from './command.ts';
import { baseUrl } from './options.ts';

const timeoutMs = 5_000;

export const status = command({
  help: `usher status [--url <url>] [--json]

  Prints whether the server is ready and which version it runs. Exits with 1 if it is not ready.

  --url <url>   URL of the server; default: from HOST and PORT
  --json        print the answer as JSON
`,
  options: { url: { type: 'string' }, json: { type: 'boolean', default: false } },
  async run({ host, port }, { url = serverUrl(host, port), json }) {
    const base = baseUrl(url);
    const ready = await ask(base, '/readyz');
    const { version } = (await ask(base, '/version')).body;
    const isReady = ready.status === 200;
    const detail = isReady ? null : (ready.body.detail ?? `/readyz answers ${ready.status}`);
    const line = isReady
      ? `Ready: Usher ${version ?? 'of an unknown version'} at ${base}.`
      : `Not ready: ${detail ?? ''} (Usher ${version ?? 'of an unknown version'} at ${base})`;
    print(json, { ready: isReady, version: version ?? null, url: base, detail }, `${line}\n`);
    if (!isReady) process.exitCode = 1;
  },
});

interface Answer {
  readonly status: number;
  readonly body: { readonly version?: string; readonly detail?: string };
}

async function ask(base: string, path: string): Promise<Answer> {
  try {
    const response = await fetch(`${base}${path}`, { signal: AbortSignal.timeout(timeoutMs) });
    const text = await response.text();
    return { status: response.status, body: isJson(text) ? (JSON.parse(text) as Answer['body']) : {} };
  } catch (cause) {
    throw new StartError(`No server answers at ${base}. Start it with "usher serve", or give its address with --url.`, {
      cause,
    });
  }
}

function isJson(text: string): boolean {
  return text.startsWith('{');
}
