import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { join, resolve } from 'node:path';
import { selfSigned } from './certificate.ts';
import { freePort } from './free-port.ts';
import { findProgram } from '../processes/programs.ts';
import { until } from '../server.ts';

/** A real nginx or HAProxy in front of Usher, with a recipe of `ops`. */
export interface ReverseProxy {
  /** The origin of the TLS port. */
  readonly origin: string;
  /** Loads the configuration again. Open connections are closed half a second later. */
  reload(): void;
  [Symbol.asyncDispose](): Promise<void>;
}

interface ProxyOptions {
  /** The recipe's file. */
  readonly recipe: string;
  /** Where Usher listens. */
  readonly usher: { readonly url: string };
  readonly port: number;
}

export async function startNginx({ recipe, usher, port }: ProxyOptions): Promise<ReverseProxy> {
  const folder = newFolder();
  const plainPort = await freePort();
  const site = replaceAll(readFileSync(resolve(recipe), 'utf8'), {
    'listen 443 ': `listen 127.0.0.1:${port} `,
    'listen 80;': `listen 127.0.0.1:${plainPort};`,
    '/etc/ssl/usher': folder,
    '127.0.0.1:8080': new URL(usher.url).host,
  });
  writeFileSync(join(folder, 'usher.conf'), site);
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  const main = [
    `user ${userInfo().username};`,
    'daemon off;',
    'worker_processes 1;',
    'worker_shutdown_timeout 500ms;',
    `pid ${folder}/nginx.pid;`,
    'error_log stderr warn;',
    'events { worker_connections 256; }',
    'http {',
    'access_log off;',
    ...temporary.map((name) => `${name}_temp_path ${folder}/${name};`),
    `include ${folder}/usher.conf;`,
    '}',
  ];
  writeFileSync(join(folder, 'nginx.conf'), main.join('\n'));
  const args = ['-p', folder, '-e', 'stderr', '-c', join(folder, 'nginx.conf')];
  return started({ name: 'nginx', args, folder, port, reloadSignal: 'SIGHUP' });
}

export async function startHaproxy({ recipe, usher, port }: ProxyOptions): Promise<ReverseProxy> {
  const folder = newFolder();
  const plainPort = await freePort();
  const configuration = replaceAll(readFileSync(resolve(recipe), 'utf8'), {
    'bind :443 ': `bind 127.0.0.1:${port} `,
    'bind :80\n': `bind 127.0.0.1:${plainPort}\n`,
    '/etc/haproxy/certs': folder,
    '127.0.0.1:8080': new URL(usher.url).host,
    'hard-stop-after 30s': 'hard-stop-after 500ms',
    // Only root may become another user.
    ...(process.getuid?.() === 0 ? {} : { 'user haproxy': '', 'group haproxy': '' }),
  });
  writeFileSync(join(folder, 'haproxy.cfg'), configuration);
  const args = ['-W', '-f', join(folder, 'haproxy.cfg')];
  return started({ name: 'haproxy', args, folder, port, reloadSignal: 'SIGUSR2' });
}

/** A folder with the certificate of the tests, under the names of the recipes. */
function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'usher-reverse-proxy-'));
  writeFileSync(join(folder, 'fullchain.pem'), selfSigned.cert);
  writeFileSync(join(folder, 'privkey.pem'), selfSigned.key);
  writeFileSync(join(folder, 'usher.pem'), `${selfSigned.cert}\n${selfSigned.key}\n`);
  return folder;
}

/** Fails if the recipe does not contain a replaced text, so that a changed recipe cannot silently use the port of another server. */
export function replaceAll(text: string, replacements: Readonly<Record<string, string>>): string {
  return Object.entries(replacements).reduce((replaced, [from, to]) => {
    if (!replaced.includes(from)) throw new Error(`the recipe does not contain "${from}"`);
    return replaced.replaceAll(from, to);
  }, text);
}

interface Launch {
  readonly name: string;
  readonly args: readonly string[];
  readonly folder: string;
  readonly port: number;
  readonly reloadSignal: NodeJS.Signals;
}

export async function started({ name, args, folder, port, reloadSignal }: Launch): Promise<ReverseProxy> {
  const program = findProgram(name);
  if (program === null) throw new Error(`${name} was not found. Run npm test: it installs ${name} or says how to.`);
  const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text));
  await until(async () => {
    if (hasEnded(child)) throw new Error(`${name} did not start: ${errors}`);
    return isListening(port);
  });
  return {
    origin: `https://localhost:${port}`,
    reload: () => child.kill(reloadSignal),
    async [Symbol.asyncDispose]() {
      if (!hasEnded(child)) {
        const ended = once(child, 'exit');
        // Both end at once at SIGTERM, with all their workers.
        child.kill('SIGTERM');
        await ended;
      }
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}

async function isListening(port: number): Promise<boolean> {
  return new Promise((done) => {
    const probe = connect(port, '127.0.0.1')
      .once('connect', () => {
        probe.destroy();
        done(true);
      })
      .once('error', () => done(false));
  });
}
