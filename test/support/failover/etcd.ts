import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../network/free-port.ts';
import { findProgram } from '../processes/programs.ts';
import { until } from '../server.ts';

/** One etcd, where Patroni keeps who is the primary. Its own failures are not tested here. */
export interface Etcd {
  readonly url: string;
  [Symbol.asyncDispose](): Promise<void>;
}

export async function startEtcd(): Promise<Etcd> {
  const program = findProgram('etcd');
  if (program === null) throw new Error('etcd was not found. Run npm test: it installs etcd or says how to.');
  const folder = mkdtempSync(join(tmpdir(), 'usher-etcd-'));
  const [url, peers] = [`http://127.0.0.1:${await freePort()}`, `http://127.0.0.1:${await freePort()}`];
  const options = {
    'data-dir': folder,
    'listen-client-urls': url,
    'advertise-client-urls': url,
    'listen-peer-urls': peers,
    'initial-advertise-peer-urls': peers,
    'initial-cluster': `default=${peers}`,
    'enable-v2': 'true',
    'log-level': 'error',
  };
  const args = Object.entries(options).map(([name, value]) => `--${name}=${value}`);
  const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text));
  process.once('exit', () => child.kill('SIGKILL'));
  await until(async () => {
    if (child.exitCode !== null) throw new Error(`etcd did not start: ${errors}`);
    return (await fetch(`${url}/health`).catch(() => null))?.ok === true;
  });
  return {
    url,
    async [Symbol.asyncDispose]() {
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
