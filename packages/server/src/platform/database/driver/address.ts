import type { ClientConfig } from 'pg';
import { isSessionKind, sessionKinds, urlsOf, type SessionKind } from '../../../config-database.ts';

/** The address of a PostgreSQL: the user's URL, or the socket of the embedded one. */
export type DatabaseAddress =
  | { readonly kind: 'url'; readonly url: string }
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
  'sslnegotiation',
  'application_name',
  'options',
  'target_session_attrs',
]);

/**
 * Reads an address. The URL may name a socket as in libpq, `postgres://user@localhost/database?host=/directory`.
 *
 * `sslmode` means what it means in libpq: `require` encrypts without checking the certificate, `verify-full` checks it against the roots of
 * Node (`NODE_EXTRA_CA_CERTS` adds to them), `prefer` encrypts if the server can. `verify-ca` checks the name, too. `pg` itself would check the
 * certificate with `require`, and warn of it, so the URL is not given to `pg`.
 */
export function targetsOf(address: DatabaseAddress): Target[] {
  if (address.kind === 'url') return urlsOf(address.url).map(targetOf);
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
  const mode = given['sslrootcert'] === 'system' ? 'verify-full' : (given['sslmode'] ?? given['ssl'] ?? 'disable');
  const client: ClientConfig = {
    ssl: isSocket ? false : tlsOf(mode),
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

function tlsOf(mode: string): NonNullable<ClientConfig['ssl']> {
  switch (mode) {
    case 'disable':
    case 'false':
      return false;
    case 'allow':
    case 'prefer':
    case 'require':
      return { rejectUnauthorized: false };
    default:
      return true;
  }
}
