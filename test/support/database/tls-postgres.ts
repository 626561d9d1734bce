import { chownSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from '../../../packages/server/src/platform/database/database.ts';
import { authority, type Certificate } from './certificates.ts';
import { startEmbeddedCluster } from './embedded-cluster.ts';
import { startProxy } from '../network/proxy.ts';

/**
 * Who may connect, and how. By the socket everybody; by TCP only with TLS: `usher` with a certificate, `plain` without, and `rotating` with a
 * password.
 */
const accessRules = `
local   all all          trust
hostssl all usher    all cert
hostssl all plain    all trust
hostssl all rotating all scram-sha-256
`;

/** Linux has 127.0.0.0/8, so a PostgreSQL with the usual port can have an address of its own. Others have 127.0.0.1 only. */
export const hasLoopbackNetwork = process.platform === 'linux';

/** Starts a PostgreSQL with TLS, which is reached at a port of localhost. */
export async function startTlsPostgres(certificate: Certificate) {
  const scope = new AsyncDisposableStack();
  const dataDir = mkdtempSync(join(tmpdir(), 'usher-tls-'));
  scope.defer(() => rmSync(dataDir, { recursive: true, force: true }));
  const byte = (): number => 1 + Math.floor(Math.random() * 250);
  const address = `127.${byte()}.${byte()}.${byte()}`;
  // The first start without these settings makes the folder of the cluster, which has the owner that the files need.
  await (await startEmbeddedCluster(dataDir)).stop();
  const cluster = join(dataDir, 'postgres');
  const { uid, gid } = statSync(cluster);
  const write = (name: string, text: string): string => {
    const path = join(cluster, name);
    writeFileSync(path, text, { mode: 0o600 });
    chownSync(path, uid, gid);
    return path;
  };
  const writeCertificate = ({ cert, key }: Certificate) => ({
    ssl_cert_file: write('own.crt', cert),
    ssl_key_file: write('own.key', key),
  });
  const postgres = await startEmbeddedCluster(dataDir, {
    listen_addresses: address,
    ssl: 'on',
    ...writeCertificate(certificate),
    ssl_ca_file: write('authority.crt', authority),
    hba_file: write('access.conf', accessRules),
  });
  scope.defer(async () => postgres.stop());
  const sql = connect(postgres.address, { max: 1 });
  scope.defer(async () => sql.end({ timeout: 1 }));
  await sql.unsafe('CREATE ROLE plain LOGIN');
  const proxy = scope.use(await startProxy({ url: `http://${address}:5432` }));
  return {
    port: new URL(proxy.url).port,
    /** By the socket, as the owner. */
    sql,
    /** From the next connection on, the server has this certificate. */
    async setCertificate(next: Certificate): Promise<void> {
      writeCertificate(next);
      await sql`SELECT pg_reload_conf()`;
    },
    async [Symbol.asyncDispose]() {
      await scope.disposeAsync();
    },
  };
}
