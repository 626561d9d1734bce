import type { ConnectionOptions } from 'node:tls';
import type { ClientConfig } from 'pg';
import { readFileSync } from 'node:fs';
import {
  isSessionKind,
  sessionKinds,
  urlOf,
  urlsOf,
  type SessionKind,
  type UserDatabase,
} from '../../../config-database.ts';
import { databaseErrorCode } from './errors.ts';

/** The address of a PostgreSQL: the user's own, or the socket of the embedded one. */
export type DatabaseAddress =
  | UserDatabase
  | { readonly kind: 'socket'; readonly directory: string; readonly user: string; readonly database: string };

/** How to connect to an address, for `pg`. */
export interface Target {
  readonly client: ClientConfig;
  /** With `sslmode=prefer` a server without TLS is accepted. */
  readonly isTlsOptional: boolean;
  /** Settings of the session that the URL asks for. */
  readonly settings: Readonly<Record<string, string>>;
  /** Of several servers, the one that is meant. */
  readonly session: SessionKind;
}

/** Parameters of a URL that are not settings of the session. */
const ownParameters = new Set([
  'host',
  'sslmode',
  'ssl',
  'sslrootcert',
  'sslcert',
  'sslkey',
  'sslpassword',
  'sslnegotiation',
  'application_name',
  'options',
  'target_session_attrs',
]);

/**
 * Reads an address. The URL may name a socket as in libpq, `postgres://user@localhost/database?host=/directory`.
 *
 * `sslmode` means what it means in libpq: `require` encrypts without checking the certificate, `verify-full` checks it and the name of the
 * host, `prefer` encrypts if the server can. Certificates are checked against those in the file `sslrootcert`, or else against the roots of
 * Node (`NODE_EXTRA_CA_CERTS` adds to them). `pg` itself would check the certificate with `require`, and warn of it, so the URL is not given
 * to `pg`. Files are read for each connection, so that certificates can be replaced.
 */
export function targetsOf(address: DatabaseAddress): Target[] {
  if (address.kind !== 'socket') return urlsOf(urlOf(address)).map(targetOf);
  const { directory, user, database } = address;
  const client: ClientConfig = { host: directory, user, database, ssl: false };
  return [{ client, isTlsOptional: false, settings: {}, session: 'any' }];
}

function targetOf(url: string): Target {
  const { hostname, port, username, password, pathname, searchParams } = new URL(url);
  const given = Object.fromEntries(searchParams);
  const host = given['host'] ?? decodeURIComponent(hostname).replace(/^\[(.+)\]$/, '$1');
  const [user, database] = [decodeURIComponent(username), decodeURIComponent(pathname.slice(1))];
  const isSocket = host.startsWith('/');
  const isChecked = given['sslrootcert'] !== undefined;
  const mode =
    given['sslrootcert'] === 'system'
      ? 'verify-full'
      : (given['sslmode'] ?? given['ssl'] ?? (isChecked ? 'verify-full' : 'disable'));
  const tls = isSocket ? false : tlsOf(mode, given);
  const client: ClientConfig = {
    // Without `host`, the certificate of a server that is named by an IP address would be compared with `localhost`.
    ssl: tls === false ? false : { host, ...tls },
    ...(host !== '' && { host }),
    ...(port !== '' && { port: Number(port) }),
    ...(user !== '' && { user }),
    ...(password !== '' && { password: decodeURIComponent(password) }),
    ...(database !== '' && { database }),
    ...(given['application_name'] !== undefined && { application_name: given['application_name'] }),
    ...(given['options'] !== undefined && { options: given['options'] }),
    ...(given['sslnegotiation'] === 'direct' && { sslnegotiation: 'direct' }),
  };
  const settings = Object.entries(given).filter(([name]) => !ownParameters.has(name));
  const session = given['target_session_attrs'] ?? 'any';
  if (!isSessionKind(session)) throw new Error(`target_session_attrs must be one of ${sessionKinds.join(', ')}.`);
  return { client, isTlsOptional: mode === 'prefer', settings: Object.fromEntries(settings), session };
}

function tlsOf(mode: string, given: Readonly<Record<string, string>>): ConnectionOptions | false {
  const { sslrootcert: roots, sslcert, sslkey, sslpassword: passphrase } = given;
  const ca = roots === undefined || roots === 'system' ? undefined : readNamed('sslrootcert', roots);
  const own = {
    ...(sslcert !== undefined && { cert: readNamed('sslcert', sslcert) }),
    ...(sslkey !== undefined && { key: readNamed('sslkey', sslkey) }),
    ...(passphrase !== undefined && { passphrase }),
  };
  switch (mode) {
    case 'disable':
    case 'false':
      return false;
    case 'allow':
    case 'prefer':
      return { ...own, rejectUnauthorized: false };
    case 'require':
      return ca === undefined ? { ...own, rejectUnauthorized: false } : { ...own, ...withoutName(ca) };
    case 'verify-ca':
      // Anybody can have a certificate that the public roots sign, so with them the name is checked in every case.
      return ca === undefined ? own : { ...own, ...withoutName(ca) };
    default:
      return ca === undefined ? own : { ...own, ca };
  }
}

function readNamed(parameter: string, path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    const reason = databaseErrorCode(cause) ?? 'unknown reason';
    throw new Error(`${parameter} names ${path}, which cannot be read (${reason})`, { cause });
  }
}

/** The certificate is checked, and the name of the host is not. */
function withoutName(ca: string): ConnectionOptions {
  return { ca, checkServerIdentity: () => undefined };
}
