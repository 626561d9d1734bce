import { once } from 'node:events';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { freePort } from './free-port.ts';
import { replaceAll, started } from './reverse-proxies.ts';

/** Host names of the tests: addresses of loopback, which need no name server. */
const hostNames = ['127.0.0.1', '127.0.0.2', '127.0.0.3'] as const;
const backends = ['north', 'south', 'west'] as const;

export interface InstallationsProxy {
  /** The URL of each host name. In the beginning each leads to one installation. */
  readonly urls: readonly string[];
  /** Leads a host name to another installation, with the command of the recipe. */
  lead(host: number, installation: number): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** HAProxy in front of three installations, with the recipe `ops/haproxy/installations.cfg` but without TLS. */
export async function startInstallationsProxy(
  installations: readonly { readonly url: string }[],
): Promise<InstallationsProxy> {
  const folder = mkdtempSync(join(tmpdir(), 'usher-installations-'));
  const port = await freePort();
  const [map, socket] = [join(folder, 'installations.map'), join(folder, 'admin.sock')];
  writeFileSync(map, hostNames.map((name, index) => `${name} ${backends[index]}\n`).join(''));
  const hostOf = (index: number): string => new URL(installations[index]?.url ?? '').host;
  const configuration = replaceAll(readFileSync(resolve('ops/haproxy/installations.cfg'), 'utf8'), {
    'bind :443 ssl crt /etc/haproxy/certs/usher.pem alpn h2,http/1.1': `bind ${hostNames.map((name) => `${name}:${port}`).join(',')}`,
    '/etc/haproxy/installations.map': map,
    '/run/haproxy/admin.sock': socket,
    '127.0.0.1:8081': hostOf(0),
    '127.0.0.1:8082': hostOf(1),
    '127.0.0.1:8083': hostOf(2),
    // Only root may become another user.
    ...(process.getuid?.() === 0 ? {} : { 'user haproxy': '', 'group haproxy': '' }),
  });
  const file = join(folder, 'haproxy.cfg');
  writeFileSync(file, configuration);
  const proxy = await started({ name: 'haproxy', args: ['-W', '-f', file], folder, port, reloadSignal: 'SIGUSR2' });
  return {
    urls: hostNames.map((name) => `http://${name}:${port}`),
    async lead(host, installation) {
      const admin = connect(socket);
      await once(admin, 'connect');
      admin.end(`set map ${map} ${hostNames[host]} ${backends[installation]}\n`);
      const answer = (await text(admin)).trim();
      if (answer !== '') throw new Error(`HAProxy answered: ${answer}`);
    },
    [Symbol.asyncDispose]: async () => proxy[Symbol.asyncDispose](),
  };
}
