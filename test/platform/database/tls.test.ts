import assert from 'node:assert/strict';
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test, type TestContext } from 'node:test';
import {
  authority,
  clientCertificate,
  expiredCertificate,
  otherAuthority,
  serverCertificate,
  wrongHostCertificate,
} from '../../support/database/certificates.ts';
import { checkHealth, pool, withTimeout } from '../../support/database/pool.ts';
import { hasLoopbackNetwork, startTlsPostgres } from '../../support/database/tls-postgres.ts';
import { launch } from '../../support/processes/process.ts';
import { until } from '../../support/server.ts';

/** Connections to a PostgreSQL with TLS, by DATABASE_URL and DATABASE_URL_FILE. */

const options = { skip: hasLoopbackNetwork ? false : 'needs an address of the loopback network besides 127.0.0.1' };

const folder = mkdtempSync(join(tmpdir(), 'usher-certificates-'));
after(() => rmSync(folder, { recursive: true, force: true }));

function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

const root = file('authority.crt', authority);
const otherRoot = file('other.crt', otherAuthority);
const cert = file('client.crt', clientCertificate.cert);
const key = file('client.key', clientCertificate.key);

type Parameters = Readonly<Record<string, string>>;

interface Server {
  readonly port: string;
}

function urlOf({ port }: Server, parameters: Parameters, user = 'plain', host = 'localhost'): string {
  return `postgres://${user}@${host}:${port}/postgres?${new URLSearchParams(parameters).toString()}`;
}

async function connects(t: TestContext, url: string): Promise<void> {
  await checkHealth(pool(t, { kind: 'url', url }));
}

async function isRefused(t: TestContext, url: string, code: string): Promise<void> {
  const sql = pool(t, { kind: 'url', url });
  await assert.rejects(withTimeout(sql`SELECT 1`.execute()), { code }, url);
}

test('what sslmode checks of the certificate of the server', options, async (t) => {
  await using server = await startTlsPostgres(serverCertificate);
  const url = (parameters: Parameters, host?: string) => urlOf(server, parameters, 'plain', host);

  await connects(t, url({ sslmode: 'verify-full', sslrootcert: root }));
  await connects(t, url({ sslrootcert: root }));
  await connects(t, url({ sslmode: 'require' }));
  await connects(t, url({ sslmode: 'prefer' }));
  await isRefused(t, url({ sslmode: 'disable' }), '28000');

  const unknown = 'SELF_SIGNED_CERT_IN_CHAIN';
  await isRefused(t, url({ sslmode: 'verify-full', sslrootcert: otherRoot }), unknown);
  await isRefused(t, url({ sslmode: 'verify-full' }), unknown);
  await isRefused(t, url({ sslmode: 'verify-full', sslrootcert: 'system' }), unknown);
  await isRefused(t, url({ sslmode: 'verify-ca', sslrootcert: otherRoot }), unknown);
  // As in libpq, a file with an authority makes `require` check it.
  await isRefused(t, url({ sslmode: 'require', sslrootcert: otherRoot }), unknown);

  // The certificate has a name and no address.
  await isRefused(t, url({ sslmode: 'verify-full', sslrootcert: root }, '127.0.0.1'), 'ERR_TLS_CERT_ALTNAME_INVALID');
  await connects(t, url({ sslmode: 'verify-ca', sslrootcert: root }, '127.0.0.1'));
});

test('a certificate that is replaced, of another host, and expired', options, async (t) => {
  await using server = await startTlsPostgres(wrongHostCertificate);
  const full = urlOf(server, { sslmode: 'verify-full', sslrootcert: root });
  await isRefused(t, full, 'ERR_TLS_CERT_ALTNAME_INVALID');
  await server.setCertificate(expiredCertificate);
  await until(async () => {
    const sql = pool(t, { kind: 'url', url: full });
    const error: unknown = await withTimeout(sql`SELECT 1`.execute()).catch((failure: unknown) => failure);
    return error instanceof Error && 'code' in error && error.code === 'CERT_HAS_EXPIRED';
  });
  await isRefused(t, urlOf(server, { sslmode: 'verify-ca', sslrootcert: root }), 'CERT_HAS_EXPIRED');
});

test('a client certificate, and none', options, async (t) => {
  await using server = await startTlsPostgres(serverCertificate);
  const verified = { sslmode: 'verify-full', sslrootcert: root };
  await connects(t, urlOf(server, { ...verified, sslcert: cert, sslkey: key }, 'usher'));
  await isRefused(t, urlOf(server, verified, 'usher'), '28000');
});

test('a start that is refused says what is wrong with the certificate', options, async () => {
  await using server = await startTlsPostgres(serverCertificate);
  const start = async (parameters: Parameters, user?: string) => {
    const environment = { DATABASE_URL: urlOf(server, parameters, user), USHER_SCANNER: 'none' };
    const usher = launch({ dataDir: folder, environment });
    assert.equal(await usher.ended(), 1);
    return usher.errors;
  };
  assert.match(
    await start({ sslmode: 'verify-full', sslrootcert: otherRoot }),
    /certificate of the database at localhost:\d+\/postgres is not signed by an authority that Usher trusts.*sslrootcert/,
  );
  assert.match(
    await start({ sslmode: 'verify-full', sslrootcert: join(folder, 'none.crt') }),
    /sslrootcert names .*none\.crt, which cannot be read \(ENOENT\)/,
  );
  assert.match(await start({ sslmode: 'require' }, 'usher'), /sslcert, sslkey/);
});

test('a password that changes in DATABASE_URL_FILE is used without a restart', options, async (t) => {
  await using server = await startTlsPostgres(serverCertificate);
  const { sql } = server;
  await sql.unsafe(`CREATE ROLE rotating LOGIN PASSWORD 'first'`);
  await sql.unsafe('CREATE DATABASE rotated OWNER rotating');
  const path = join(folder, 'url');
  const write = (password: string): void => {
    const query = new URLSearchParams({ sslmode: 'verify-full', sslrootcert: root }).toString();
    writeFileSync(`${path}.new`, `postgres://rotating:${password}@localhost:${server.port}/rotated?${query}\n`);
    renameSync(`${path}.new`, path);
  };
  write('first');
  const usher = launch({ dataDir: folder, environment: { DATABASE_URL_FILE: path, USHER_SCANNER: 'none' } });
  t.after(async () => usher.stop('SIGKILL'));
  await usher.ready();
  const status = async (): Promise<number> => {
    const response = await fetch(`${usher.url}/operator_authentication/tokens`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ api_key_id: 'nobody', api_key_secret: 'nothing' }),
    });
    await response.arrayBuffer();
    return response.status;
  };
  assert.equal(await status(), 401);

  await sql.unsafe(`ALTER ROLE rotating PASSWORD 'second'`);
  await sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'rotating'`;
  // Until the file has the new password the database is unavailable, which is no error of the request.
  await until(async () => (await status()) === 503);
  write('second');
  await until(async () => (await status()) === 401);
  assert.equal((await fetch(`${usher.url}/readyz`)).status, 200);
});
