import { createPrivateKey, type KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import type { SettingReader } from './carriers/carrier.ts';
import { readCarriers, type CarrierConfig } from './carriers/carriers.ts';
import { isDnsServer, isIceUrl, isNetwork } from './config-addresses.ts';
import { exampleUrl, isDatabaseUrl, urlOf, type UserDatabase } from './config-database.ts';
import { SettingError } from './config-error.ts';
import { settings, type SettingName } from './config-settings.ts';
import { fileStorage, type FileStorage } from './config-files.ts';
import { tracingSettings, type TracingSettings } from './config-tracing.ts';

export { SettingError };

/** All settings, read once from the environment. No other module reads `process.env`. */
export interface Config extends CarrierConfig {
  readonly host: string;
  readonly port: number;
  readonly dataDir: string;
  /** An external PostgreSQL; with `null` Usher runs the embedded one in `dataDir`. */
  /** `null`: the embedded database. */
  readonly userDatabase: UserDatabase | null;
  /** All database connections that the process may open. `platform/database/pools.ts` divides them. */
  readonly databaseConnections: number;
  /** Whether a start migrates the schema. */
  readonly migrate: 'on' | 'off';
  /** The first super_manager's key, if the settings choose it (D9.3). */
  readonly adminKey: { readonly id: string; readonly secret: string } | null;
  /** The port that serves only the metrics; with `null` they are on `port`. */
  readonly metricsPort: number | null;
  /** `null`: it depends on whether the log is shown on a terminal. */
  readonly logLevel: LogLevel | null;
  /** Whose `X-Forwarded-*` headers are trusted: nobody's, everybody's, those of this number of proxies, or of these addresses. */
  readonly trustProxy: boolean | number | readonly string[];
  /** Requests per minute and token. */
  readonly rateLimitPerToken: number;
  /** Attempts per minute and IP address to sign in or to obtain a token with an API key. */
  readonly rateLimitSignIn: number;
  /** Prefix of paths in links; if empty, links are relative to the address of the API. */
  readonly publicUrl: string;
  /** Whole days for which events are kept. */
  readonly eventRetentionDays: number;
  /** Whole days for which presence intervals are kept. */
  readonly presenceRetentionDays: number;
  readonly scanner: ScannerChoice;
  /** Private networks that registered webhooks and identity providers may be in. */
  readonly webhookAllowCidrs: readonly string[];
  /** The same for webhooks attached to a ticket or request: only networks that were set, without the default of the embedded database. */
  readonly attachedWebhookAllowCidrs: readonly string[];
  /** DNS servers for all names except the database's, as `address` or `address:port`; if empty, those of the system. */
  readonly dnsServers: readonly string[];
  /** The credentials for Apple push notifications and the origins of Apple's service; `null` if push is not configured. */
  readonly apns: {
    readonly key: KeyObject;
    readonly keyId: string;
    readonly teamId: string;
    readonly sandboxUrl: string;
    readonly productionUrl: string;
  } | null;
  /** For calls between browsers: `stun:` and `turn:` URLs, and the secret that is shared with the TURN servers. */
  readonly ice: { readonly urls: readonly string[]; readonly turnSecret: string };
  /** Whether `/mcp` is served. */
  readonly mcp: 'on' | 'off';
  readonly files: FileStorage;
  /** Where spans are sent, and which; `null`: nothing is traced. */
  readonly tracing: TracingSettings | null;
  /** The file of `usher login`. */
  readonly profilePath: string;
  /** Whether npx runs this program. */
  readonly isRunByNpx: boolean;
}

/** How uploaded files are scanned. With `unset`, no scanner is configured and uploads are refused. */
export type ScannerChoice =
  | { readonly kind: 'none' | 'manual' | 'unset' }
  | { readonly kind: 'clamd'; readonly host: string; readonly port: number };

const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
export type LogLevel = (typeof logLevels)[number];

type Environment = Readonly<Record<string, string | undefined>>;

export function readConfig(environment: Environment): Config {
  refuseUnknown(environment);
  const read = (name: SettingName): string => {
    const given = environment[name];
    if (given !== undefined && given !== '') return given;
    return settings.find((setting) => setting.name === name)?.fallback ?? '';
  };
  const userDatabase = readUserDatabase(read);
  const isEmbedded = userDatabase === null;
  return Object.freeze({
    host: read('HOST'),
    port: wholeNumber('PORT', read('PORT'), 0, 65_535),
    dataDir: resolve(read('USHER_DATA_DIR')),
    userDatabase,
    // Background work reserves 23 connections (`platform/database/pools.ts`), and requests need at least 2.
    databaseConnections: wholeNumber('USHER_DATABASE_POOL', read('USHER_DATABASE_POOL'), 25, 250),
    migrate: oneOf('USHER_MIGRATE', read('USHER_MIGRATE'), ['on', 'off']),
    adminKey: adminKey(read('USHER_ADMIN_KEY_ID'), read('USHER_ADMIN_KEY_SECRET')),
    metricsPort: metricsPort(read('USHER_METRICS_PORT'), read('PORT')),
    logLevel: logLevel('USHER_LOG', read) ?? logLevel('USHER_LOG_LEVEL', read),
    trustProxy: trustProxy(read('USHER_TRUST_PROXY')),
    rateLimitPerToken: wholeNumber('USHER_RATE_LIMIT_PER_TOKEN', read('USHER_RATE_LIMIT_PER_TOKEN'), 1, 1e9),
    rateLimitSignIn: wholeNumber('USHER_RATE_LIMIT_SIGN_IN', read('USHER_RATE_LIMIT_SIGN_IN'), 1, 1e9),
    publicUrl: publicUrl(read('USHER_PUBLIC_URL')),
    eventRetentionDays: wholeNumber('USHER_EVENT_RETENTION_DAYS', read('USHER_EVENT_RETENTION_DAYS'), 1, 3_650),
    presenceRetentionDays: wholeNumber(
      'USHER_PRESENCE_RETENTION_DAYS',
      read('USHER_PRESENCE_RETENTION_DAYS'),
      1,
      3_650,
    ),
    files: fileStorage(read('USHER_FILES')),
    scanner: scanner(read('USHER_SCANNER'), isEmbedded),
    ...allowCidrs(read('USHER_WEBHOOK_ALLOW_CIDRS'), isEmbedded),
    dnsServers: dnsServers(read('USHER_DNS_SERVERS')),
    ...readCarriers(readerOf(read)),
    apns: apns(read),
    ice: ice(read('USHER_ICE_SERVERS'), read('USHER_TURN_SECRET')),
    mcp: oneOf('USHER_MCP', read('USHER_MCP'), ['on', 'off']),
    tracing: tracingSettings(read),
    profilePath: profilePath(environment['XDG_CONFIG_HOME']),
    isRunByNpx: isRunByNpx(environment),
  });
}

function profilePath(configHome = ''): string {
  return join(configHome === '' ? join(homedir(), '.config') : configHome, 'usher', 'profile.json');
}

function logLevel(name: 'USHER_LOG' | 'USHER_LOG_LEVEL', read: (name: SettingName) => string): LogLevel | null {
  return read(name) === '' ? null : oneOf(name, read(name), logLevels);
}

/**
 * npx and `npm exec` set these variables, which every process below inherits. So the command must be `usher` itself, and not something
 * that starts Usher, and must not go to the background: a server that outlives its parent on purpose must not be taken for an orphan.
 */
function isRunByNpx({ npm_lifecycle_event: event, npm_lifecycle_script: script = '' }: Environment): boolean {
  return event === 'npx' && /^['"]?usher['"]?(?:\s[^&;|]*)?$/.test(script);
}

/** Refuses unknown settings, so that a misspelt one does not silently keep its default. */
function refuseUnknown(environment: Environment): void {
  const known: readonly string[] = settings.map((setting) => setting.name);
  const [unknown] =
    Object.entries(environment).find(
      ([name, value]) => name.startsWith('USHER_') && !known.includes(name) && !isServiceLink(name, value),
    ) ?? [];
  if (unknown === undefined) return;
  const available = known.filter((name) => name.startsWith('USHER_')).join(', ');
  throw new SettingError(`${unknown} is not a setting of Usher. Unset it, or use one of: ${available}.`);
}

/**
 * Kubernetes sets variables for each Service in the namespace. Those of a Service `usher` or `usher-…` begin like our settings:
 * `USHER_SERVICE_HOST`, `USHER_SERVICE_PORT_HTTP`, `USHER_PORT=tcp://10.0.0.7:8080`, `USHER_PORT_8080_TCP_ADDR`.
 */
function isServiceLink(name: string, value = ''): boolean {
  const link =
    /^USHER_(?:\w+_)?(?:SERVICE_HOST|SERVICE_PORT(?:_\w+)?|PORT_\d+_(?:TCP|UDP|SCTP)(?:_(?:PROTO|PORT|ADDR))?)$/;
  // `USHER_PORT=8080` is a misspelt `PORT`.
  return link.test(name) || (/^USHER_(?:\w+_)?PORT$/.test(name) && /^(?:tcp|udp|sctp):\/\//.test(value));
}

function wholeNumber(name: SettingName, value: string, least: number, most: number): number {
  if (/^\d+$/.test(value) && Number(value) >= least && Number(value) <= most) return Number(value);
  const { meaning } = settings.find((setting) => setting.name === name) ?? { meaning: '' };
  throw new SettingError(`${name} must be a whole number from ${least} to ${most}, not "${value}". ${meaning}.`);
}

function metricsPort(value: string, port: string): number | null {
  if (value === '') return null;
  const found = wholeNumber('USHER_METRICS_PORT', value, 0, 65_535);
  if (found !== 0 && found === Number(port))
    throw new SettingError(`USHER_METRICS_PORT must differ from PORT, ${port}. Unset it to serve /metrics on PORT.`);
  return found;
}

function oneOf<T extends string>(name: SettingName, value: string, allowed: readonly T[]): T {
  const found = allowed.find((candidate) => candidate === value);
  if (found !== undefined) return found;
  throw new SettingError(`${name} must be one of ${allowed.join(', ')}, not "${value}".`);
}

/** The messages never repeat the URL, which may contain a password. */
function readUserDatabase(read: (name: SettingName) => string): UserDatabase | null {
  const [url, path] = [read('DATABASE_URL'), read('DATABASE_URL_FILE')];
  if (url === '' && path === '') return null;
  if (url !== '' && path !== '') throw new SettingError('Set either DATABASE_URL or DATABASE_URL_FILE, not both.');
  if (path === '') {
    if (isDatabaseUrl(url)) return { kind: 'url', url };
    throw new SettingError(
      `DATABASE_URL must look like ${exampleUrl}. target_session_attrs may be any, read-write or primary.`,
    );
  }
  const database = { kind: 'file', path: resolve(path) } as const;
  try {
    urlOf(database);
  } catch (cause) {
    throw new SettingError(`DATABASE_URL_FILE cannot be used: ${(cause as Error).message}`, { cause });
  }
  return database;
}

function adminKey(id: string, secret: string): Config['adminKey'] {
  if (id === '' && secret === '') return null;
  if (id === '' || secret === '') {
    throw new SettingError('USHER_ADMIN_KEY_ID and USHER_ADMIN_KEY_SECRET go together: set both or neither.');
  }
  if (!/^[\w.-]{1,64}$/.test(id)) {
    throw new SettingError('USHER_ADMIN_KEY_ID must be 1 to 64 letters, digits, dots, dashes or underscores.');
  }
  if (secret.length < 16 || secret.length > 256) {
    throw new SettingError('USHER_ADMIN_KEY_SECRET must be 16 to 256 characters long.');
  }
  return Object.freeze({ id, secret });
}

function scanner(value: string, embedded: boolean): ScannerChoice {
  if (value === '') return { kind: embedded ? 'none' : 'unset' };
  if (value === 'none' || value === 'manual') return { kind: value };
  const url = URL.canParse(value) ? new URL(value) : null;
  const more =
    url === null ? '' : `${url.username}${url.password}${url.pathname.replace('/', '')}${url.search}${url.hash}`;
  if (url?.protocol !== 'clamd:' || url.hostname === '' || more !== '') {
    throw new SettingError(`USHER_SCANNER must be clamd://host:3310, manual or none, not "${value}".`);
  }
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  return { kind: 'clamd', host, port: url.port === '' ? 3_310 : Number(url.port) };
}

/** Whether all of these settings are set. Setting only some of them is an error. */
function areSet(read: (name: SettingName) => string, names: readonly SettingName[]): boolean {
  const missing = names.filter((name) => read(name) === '');
  if (missing.length > 0 && missing.length < names.length)
    throw new SettingError(`${names.join(', ')} go together: set all or none. Missing: ${missing.join(', ')}.`);
  return missing.length === 0;
}

/** For settings of which one is a secret: the messages never repeat a value, because the values are easily mixed up. */
function readerOf(read: (name: SettingName) => string): SettingReader<SettingName> {
  return {
    areSet: (names) => areSet(read, names),
    text(name, form, description) {
      const value = read(name);
      if (form.test(value)) return value;
      throw new SettingError(`${name} must be ${description}.`);
    },
    url: (name) => plainUrl(name, read(name)),
  };
}

function apns(read: (name: SettingName) => string): Config['apns'] {
  const sandboxUrl = httpsOrigin('USHER_APNS_SANDBOX_URL', read('USHER_APNS_SANDBOX_URL'));
  const productionUrl = httpsOrigin('USHER_APNS_PRODUCTION_URL', read('USHER_APNS_PRODUCTION_URL'));
  if (!areSet(read, ['USHER_APNS_KEY_FILE', 'USHER_APNS_KEY_ID', 'USHER_APNS_TEAM_ID'])) return null;
  for (const name of ['USHER_APNS_KEY_ID', 'USHER_APNS_TEAM_ID'] as const) {
    if (!/^[A-Z0-9]{10}$/.test(read(name)))
      throw new SettingError(`${name} must be 10 capital letters and digits, not "${read(name)}".`);
  }
  const key = apnsKey(read('USHER_APNS_KEY_FILE'));
  return Object.freeze({
    key,
    keyId: read('USHER_APNS_KEY_ID'),
    teamId: read('USHER_APNS_TEAM_ID'),
    sandboxUrl,
    productionUrl,
  });
}

/** The messages never repeat the content of the file, which is a secret. */
function apnsKey(path: string): KeyObject {
  let pem: string;
  try {
    pem = readFileSync(path, 'utf8');
  } catch (error) {
    const why = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
    throw new SettingError(`USHER_APNS_KEY_FILE names "${path}", which cannot be read (${why}).`, { cause: error });
  }
  const wrong = `USHER_APNS_KEY_FILE names "${path}", which is not a P-256 key (PKCS#8, .p8) as Apple issues it.`;
  if (!pem.trimStart().startsWith('-----BEGIN PRIVATE KEY-----')) throw new SettingError(wrong);
  let key: KeyObject;
  try {
    key = createPrivateKey({ key: pem, format: 'pem' });
  } catch (error) {
    throw new SettingError(wrong, { cause: error });
  }
  if (key.asymmetricKeyType !== 'ec' || key.asymmetricKeyDetails?.namedCurve !== 'prime256v1')
    throw new SettingError(wrong);
  return key;
}

/** Browsers gather candidates slowly with many servers, and warn about more than five. */
const mostIceServers = 10;

function ice(list: string, turnSecret: string): Config['ice'] {
  const urls = list === '' ? [] : list.split(',').map((each) => each.trim());
  const wrong = urls.find((url) => !isIceUrl(url));
  if (wrong !== undefined)
    throw new SettingError(
      `USHER_ICE_SERVERS must be a list such as stun:host:3478,turn:host:3478?transport=udp, not "${wrong}".`,
    );
  if (urls.length > mostIceServers)
    throw new SettingError(`USHER_ICE_SERVERS may name ${mostIceServers} servers at most, not ${urls.length}.`);
  const hasRelay = urls.some((url) => url.startsWith('turn'));
  if (hasRelay !== (turnSecret !== ''))
    throw new SettingError(
      'USHER_TURN_SECRET and turn: or turns: in USHER_ICE_SERVERS go together: set both or neither.',
    );
  if (hasRelay && !/^[\x21-\x7e]{16,256}$/.test(turnSecret))
    throw new SettingError('USHER_TURN_SECRET must be 16 to 256 visible ASCII characters.');
  return Object.freeze({ urls, turnSecret });
}

/** Requires https, because requests to Apple carry a token. */
function httpsOrigin(name: SettingName, value: string): string {
  const url = URL.canParse(value) ? new URL(value) : null;
  if (url?.protocol === 'https:' && url.href === `${url.origin}/`) return url.origin;
  throw new SettingError(`${name} must be an https URL without credentials, path, query or fragment.`);
}

function plainUrl(name: SettingName, value: string): string {
  const url = URL.canParse(value) ? new URL(value) : null;
  const isPlain = url !== null && `${url.username}${url.password}${url.search}${url.hash}` === '';
  if (!isPlain || !['http:', 'https:'].includes(url.protocol))
    throw new SettingError(`${name} must be an http or https URL without credentials, query or fragment.`);
  return url.href.replace(/(?<!\/)\/+$/, '');
}

/** Its path becomes part of cookies and pages, where other characters have a meaning. */
function publicUrl(value: string): string {
  if (value === '') return '';
  const url = plainUrl('USHER_PUBLIC_URL', value);
  if (/^(?:\/[\w.~%-]+)*\/?$/.test(new URL(url).pathname)) return url;
  throw new SettingError(
    'The path of USHER_PUBLIC_URL may contain letters, digits, and the characters - . _ ~ % between single slashes.',
  );
}

const proxyGroups = ['loopback', 'linklocal', 'uniquelocal'];
const mostProxies = 10;

function trustProxy(value: string): Config['trustProxy'] {
  if (value === 'true') return true;
  if (value === 'false') return false;
  if (/^\d+$/.test(value) && Number(value) >= 1 && Number(value) <= mostProxies) return Number(value);
  const proxies = value.split(',').map((address) => address.trim());
  // A prefix of 0 matches every address, including clients.
  const wrong = proxies.find((proxy) => !proxyGroups.includes(proxy) && (!isNetwork(proxy) || /\/0+$/.test(proxy)));
  if (wrong === undefined) return proxies;
  throw new SettingError(
    `USHER_TRUST_PROXY must be false, the number of proxies before Usher (1 to ${mostProxies}), or a list of their ` +
      `addresses and networks such as 10.0.0.5,10.1.0.0/24 (also ${proxyGroups.join(', ')}), not "${wrong}".`,
  );
}

/**
 * Networks that are set apply to every webhook. The default of the embedded database, loopback, is for people who try Usher on
 * their own machine: it applies to the webhooks that they register, not to those that visitors attach.
 */
function allowCidrs(
  value: string,
  isEmbedded: boolean,
): Pick<Config, 'webhookAllowCidrs' | 'attachedWebhookAllowCidrs'> {
  if (value === '')
    return { webhookAllowCidrs: isEmbedded ? ['127.0.0.0/8', '::1/128'] : [], attachedWebhookAllowCidrs: [] };
  const networks = value.split(',').map((each) => each.trim());
  const wrong = networks.find((each) => !isNetwork(each) || each.includes('%'));
  if (wrong === undefined) return { webhookAllowCidrs: networks, attachedWebhookAllowCidrs: networks };
  throw new SettingError(
    `USHER_WEBHOOK_ALLOW_CIDRS must be a list of networks such as 10.0.0.0/8 or fd00::/8, not "${wrong}".`,
  );
}

/** Servers in the form of c-ares: an address, or an address and a port, where IPv6 needs brackets. */
function dnsServers(value: string): readonly string[] {
  const servers = value === '' ? [] : value.split(',').map((each) => each.trim());
  const wrong = servers.find((server) => !isDnsServer(server));
  if (wrong === undefined) return servers;
  throw new SettingError(
    `USHER_DNS_SERVERS must be a list of IP addresses such as 10.0.0.53 or [fd00::53]:5353, not "${wrong}".`,
  );
}
