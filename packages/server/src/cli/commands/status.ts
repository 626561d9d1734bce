import { StartError } from '../../platform/errors.ts';
import { serverUrl } from '../../platform/server-url.ts';
import { command, print } from '../command.ts';
import { baseUrl } from '../options.ts';

const timeoutMs = 5_000;

export const status = command({
  help: `usher status [--url <url>] [--json]

  Prints whether the server is ready, which version and commit it runs, and the version of its schema. Exits with 1 if it is not ready.

  --url <url>   URL of the server; default: from HOST and PORT
  --json        print the answer as JSON
`,
  options: { url: { type: 'string' }, json: { type: 'boolean', default: false } },
  async run({ host, port }, { url = serverUrl(host, port), json }) {
    const base = baseUrl(url);
    const ready = await ask(base, '/readyz');
    const { version = null, commit = null, schema = null } = (await ask(base, '/version')).body;
    const program = describeProgram(version, commit, schema);
    const isReady = ready.status === 200;
    const detail = isReady ? null : (ready.body.detail ?? `/readyz answers ${ready.status}`);
    const line = isReady ? `Ready: ${program} at ${base}.` : `Not ready: ${detail ?? ''} (${program} at ${base})`;
    print(json, { ready: isReady, version, commit, schema, url: base, detail }, `${line}\n`);
    if (!isReady) process.exitCode = 1;
  },
});

function describeProgram(version: string | null, commit: string | null, schema: number | null): string {
  const details = [
    ...(commit === null ? [] : [`commit ${commit.slice(0, 12)}`]),
    ...(schema === null ? [] : [`schema ${schema}`]),
  ];
  return `Usher ${version ?? 'of an unknown version'}${details.length === 0 ? '' : ` (${details.join(', ')})`}`;
}

interface Answer {
  readonly status: number;
  readonly body: {
    readonly version?: string;
    readonly commit?: string | null;
    readonly schema?: number;
    readonly detail?: string;
  };
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
