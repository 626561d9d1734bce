import type { Config } from '../config.ts';
import { eventTypes, type EventType } from '../events/catalogue.ts';
import { StartError } from '../platform/errors.ts';
import { latest } from '../platform/instant.ts';
import { serverUrl } from '../platform/server-url.ts';
import { UsageError } from './command.ts';
import { readProfile, type Connection } from './profile.ts';

/** The options of every command that calls a server. */
export const serverOptions = {
  url: { type: 'string' },
  'key-id': { type: 'string' },
  'key-secret': { type: 'string' },
  json: { type: 'boolean', default: false },
} as const;

interface ConnectionFlags {
  readonly url?: string | undefined;
  readonly 'key-id'?: string | undefined;
  readonly 'key-secret'?: string | undefined;
}

/** What `--help` says about `serverOptions`. */
export const serverOptionsHelp = `  --json                print each event as a line of JSON
  --url <url>           URL of the server; default: that of the profile, or from HOST and PORT
  --key-id, --key-secret   API key; default: USHER_ADMIN_KEY_ID and USHER_ADMIN_KEY_SECRET, or the profile (usher login)`;

/** The flags, or else the settings of a local server, or else the profile that `usher login` has written. */
export function connectionOf(
  { host, port, adminKey, profilePath }: Config,
  flags: ConnectionFlags,
  readOwnProfile = (): Connection | null => readProfile(profilePath),
): Connection {
  const { url, 'key-id': id, 'key-secret': secret } = flags;
  if ((id === undefined) !== (secret === undefined))
    throw new UsageError('--key-id and --key-secret go together: give both or neither.');
  const key = id === undefined || secret === undefined ? adminKey : { id, secret };
  if (key !== null) return { url: baseUrl(url ?? serverUrl(host, port)), key };
  const profile = readOwnProfile();
  if (profile === null)
    throw new StartError(
      'Give an API key with --key-id and --key-secret, set USHER_ADMIN_KEY_ID and USHER_ADMIN_KEY_SECRET, or log in with usher login.',
    );
  // The key must not be sent to another server.
  if (url !== undefined && baseUrl(url) !== profile.url)
    throw new StartError(
      `You are logged in to ${profile.url}. For another URL, log in there with usher login, or give --key-id and --key-secret.`,
    );
  return profile;
}

/** The URL without a slash at the end. */
export function baseUrl(text: string): string {
  return httpUrl('--url', text).href.replace(/(?<!\/)\/+$/, '');
}

/** The message does not repeat the URL, which may contain a secret. */
export function httpUrl(flag: string, text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !['http:', 'https:'].includes(url.protocol) || `${url.username}${url.password}` !== '')
    throw new UsageError(`${flag} must be an http or https URL without a user name, such as http://127.0.0.1:8080.`);
  return url;
}

/** The URL of a receiver. `localhost:3000/hook` means `http://localhost:3000/hook`. */
export function receiverUrl(flag: string, text: string): URL {
  const isShort = /^[\w.-]+:\d{1,5}(?:[/?]|$)/.test(text);
  return httpUrl(flag, isShort ? `http://${text}` : text);
}

/** Event types from a list separated by commas; `null` means all types. */
export function eventTypesOf(flag: string, text: string | undefined): readonly EventType[] | null {
  if (text === undefined) return null;
  const names = text.split(',').map((each) => each.trim());
  return names.map((each) => {
    const found = eventTypes.find((type) => type === each);
    if (found === undefined)
      throw new UsageError(`${flag}: "${each}" is not an event type. The event types are: ${eventTypes.join(', ')}.`);
    return found;
  });
}

const unitsMs: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Parses a date and time, or an age: `90s`, `15m`, `2h`, `7d`. */
export function parseInstant(flag: string, text: string, now: number): Date {
  const [, count, unit = ''] = /^(\d{1,9})([smhd])$/.exec(text) ?? [];
  // A time without an offset is refused, because it would be read as this machine's time. A date alone is its midnight in UTC.
  const isWhole = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d))?$/i.test(text);
  const at =
    count === undefined ? (isWhole ? Date.parse(text) : Number.NaN) : now - Number(count) * (unitsMs[unit] ?? 0);
  if (at >= 0 && at <= latest) return new Date(at);
  throw new UsageError(`${flag} must be a date and time such as 2027-01-31T09:00:00Z, or an age such as 15m or 2h.`);
}

export function wholeNumber(flag: string, text: string, most: number): number {
  const number = Number(text);
  if (/^\d+$/.test(text) && number >= 1 && number <= most) return number;
  throw new UsageError(`${flag} must be a whole number from 1 to ${most}, not "${text}".`);
}
