import { parseArgs, type ParseArgsConfig } from 'node:util';
import type { Config } from '../config.ts';
import { eventTypes, type EventType } from '../events/catalogue.ts';
import { StartError } from '../platform/errors.ts';
import { latest } from '../platform/instant.ts';
import { serverUrl } from '../platform/server-url.ts';

/** What every command that asks a server takes. */
export const serverOptions = {
  url: { type: 'string' },
  'key-id': { type: 'string' },
  'key-secret': { type: 'string' },
  json: { type: 'boolean', default: false },
  help: { type: 'boolean', short: 'h', default: false },
} as const;

export interface Connection {
  /** Without a slash at the end. */
  readonly url: string;
  readonly key: { readonly id: string; readonly secret: string };
}

export function readOptions<T extends NonNullable<ParseArgsConfig['options']>>(
  command: string,
  options: T,
  args: readonly string[],
) {
  try {
    return parseArgs({ args: [...args], options, strict: true, allowPositionals: false }).values;
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    // Its first sentence says what is wrong; the rest is for programmers.
    const fault = error.message.split(/\.\s|\n/)[0]?.replace(/\.$/, '') ?? '';
    throw new StartError(`${fault}. See usher ${command} --help.`, { cause: error });
  }
}

interface Asked {
  readonly url?: string | undefined;
  readonly 'key-id'?: string | undefined;
  readonly 'key-secret'?: string | undefined;
}

/** As the flags say; where they are silent, as the settings of a server that runs here do. */
export function connectionOf({ host, port, adminKey }: Config, asked: Asked): Connection {
  const { url = serverUrl(host, port), 'key-id': id, 'key-secret': secret } = asked;
  if ((id === undefined) !== (secret === undefined))
    throw new StartError('--key-id and --key-secret go together: give both or neither.');
  const key = id === undefined || secret === undefined ? adminKey : { id, secret };
  if (key === null)
    throw new StartError(
      'Give an API key with --key-id and --key-secret, or set USHER_ADMIN_KEY_ID and USHER_ADMIN_KEY_SECRET.',
    );
  return { url: httpUrl('--url', url).href.replace(/(?<!\/)\/+$/, ''), key };
}

/** The text is not repeated: people put secrets into URLs. */
export function httpUrl(flag: string, text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !['http:', 'https:'].includes(url.protocol) || `${url.username}${url.password}` !== '')
    throw new StartError(`${flag} must be an http or https URL without a user name, such as http://127.0.0.1:8080.`);
  return url;
}

/** A list separated by commas; `null`: all of them. */
export function eventTypesOf(flag: string, text: string | undefined): readonly EventType[] | null {
  if (text === undefined) return null;
  const asked = text.split(',').map((each) => each.trim());
  return asked.map((each) => {
    const found = eventTypes.find((type) => type === each);
    if (found === undefined)
      throw new StartError(`${flag}: there is no event type "${each}". There are: ${eventTypes.join(', ')}.`);
    return found;
  });
}

const unitsMs: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** A date and time, or how long ago: `90s`, `15m`, `2h`, `7d`. */
export function instantAsked(flag: string, text: string, now: number): Date {
  const [, count, unit = ''] = /^(\d{1,9})([smhd])$/.exec(text) ?? [];
  // Without an offset it would be read as this machine's time; a date alone as the day's beginning, UTC.
  const isWhole = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d))?$/i.test(text);
  const at =
    count === undefined ? (isWhole ? Date.parse(text) : Number.NaN) : now - Number(count) * (unitsMs[unit] ?? 0);
  if (at >= 0 && at <= latest) return new Date(at);
  throw new StartError(
    `${flag} must be a date and time such as 2027-01-31T09:00:00Z, or how long ago, such as 15m or 2h.`,
  );
}

export function wholeNumber(flag: string, text: string, most: number): number {
  const number = Number(text);
  if (/^\d+$/.test(text) && number >= 1 && number <= most) return number;
  throw new StartError(`${flag} must be a whole number from 1 to ${most}, not "${text}".`);
}
