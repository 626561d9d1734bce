/** What the server would refuse of a webhook, said while it is typed. The server's own rules decide; see events/subscription.ts. */

export interface Violation {
  readonly attribute: string;
  readonly detail: string;
}

const longestUrl = 2_048;

export function urlFault(url: string): string | null {
  if (url.length > longestUrl) return `must not have more than ${longestUrl} characters`;
  if (/[\s\p{Cc}\\]/u.test(url)) return 'must not contain spaces, control characters or backslashes';
  if (!/^https?:\/\//i.test(url)) return 'must be an http or https URL, protocol included';
  if (!URL.canParse(url)) return 'must be a URL with a host';
  return /^[^:]*:\/+[^/?#]*@/.test(url) ? 'must not contain a user name or password' : null;
}

export interface PushTarget {
  readonly deviceToken: string;
  readonly topic: string;
  readonly environment: 'sandbox' | 'production';
  readonly silent: boolean;
  /** The URL that the target was read from. */
  readonly storedUrl?: string;
}

/**
 * The URL of the target. A stored one stays as it is while nobody has edited the target: a webhook with another URL hears only of
 * the sites of whoever saved it. Of an edited one, parameters that have no field here are kept.
 */
export function pushUrl(target: PushTarget): string {
  const { deviceToken, topic, environment, silent, storedUrl } = target;
  if (storedUrl !== undefined && isSameTarget(pushTarget(storedUrl), target)) return storedUrl;
  const further = new URLSearchParams(pushShape.exec(storedUrl ?? '')?.[3] ?? '');
  for (const name of ['env', 'content_available']) further.delete(name);
  const rest = further.size === 0 ? '' : `&${further.toString()}`;
  return `apns://${deviceToken}@${topic}?env=${environment}${silent ? '&content_available=true' : ''}${rest}`;
}

function isSameTarget(one: PushTarget, other: PushTarget): boolean {
  return (['deviceToken', 'topic', 'environment', 'silent'] as const).every((field) => one[field] === other[field]);
}

const pushShape = /^apns:\/\/([^@]*)@([^?]*)(?:\?(.*))?$/i;

/** Of a URL that the server has taken. */
export function pushTarget(url: string): PushTarget {
  const [, deviceToken = '', topic = '', query = ''] = pushShape.exec(url) ?? [];
  const parameters = new URLSearchParams(query);
  return {
    deviceToken,
    topic,
    environment: parameters.get('env') === 'production' ? 'production' : 'sandbox',
    silent: ['true', '1'].includes((parameters.get('content_available') ?? '').toLowerCase()),
    storedUrl: url,
  };
}

export function deviceTokenFault(token: string): string | null {
  return /^[\w-]{1,200}$/.test(token) ? null : 'has letters, digits, _ and - only, 200 at most';
}

export function topicFault(topic: string): string | null {
  return /^[A-Za-z0-9._-]{1,255}$/.test(topic) ? null : 'is a bundle id: letters, digits, dots, _ and - only';
}

const reserved = new Set([
  'host',
  'content-length',
  'connection',
  'transfer-encoding',
  'te',
  'trailer',
  'upgrade',
  'keep-alive',
  'expect',
  'webhook-id',
  'webhook-timestamp',
  'webhook-signature',
]);
export const headerLimits = { count: 50, bytes: 8_192 } as const;
const headerName = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const headerValue = /^[\t\x20-\x7e\x80-\xff]*$/;

/** The server also looks at a charset, and says what is wrong with it. */
const jsonType = /^(?:application|text)\/(?:[\w.-]+\+)?json(?:;.*)?$/i;

export interface Header {
  readonly name: string;
  readonly value: string;
}

/** Of one header among all. */
export function headerFault({ name, value }: Header, all: readonly Header[]): string | null {
  if (!headerName.test(name)) return 'is not a header name';
  const lower = name.toLowerCase();
  if (reserved.has(lower) || lower.startsWith('proxy-')) return 'is a header that cannot be set';
  if (all.filter((other) => other.name === name).length > 1) return 'is there twice';
  if (lower === 'content-type' && !jsonType.test(value)) return 'must be a JSON type such as application/json';
  return headerValue.test(value)
    ? null
    : 'must not contain line breaks, control characters or characters beyond Latin-1';
}

/** Of all of them together. */
export function headersFault(all: readonly Header[]): string | null {
  if (all.length > headerLimits.count) return `must not have more than ${headerLimits.count}`;
  const bytes = all.reduce((sum, { name, value }) => sum + bytesOf(name) + bytesOf(value), 0);
  return bytes > headerLimits.bytes ? `must not exceed ${headerLimits.bytes} bytes` : null;
}

function bytesOf(text: string): number {
  return new TextEncoder().encode(text).length;
}

const secretShape = /^whsec_([A-Za-z0-9+/]{32,88})={0,2}$/;

export function secretFault(secret: string): string | null {
  const detail = 'must be whsec_ and base64 of 24 to 64 bytes';
  const text = secretShape.exec(secret)?.[1];
  if (text === undefined || text.length % 4 === 1) return detail;
  const bytes = Math.floor((text.length * 3) / 4);
  const isExact = btoa(atob(text)).replaceAll('=', '') === text;
  return isExact && bytes >= 24 && bytes <= 64 ? null : detail;
}
