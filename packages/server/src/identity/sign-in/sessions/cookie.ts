import { isUuid } from '../../../platform/ids.ts';

/**
 * The session cookie: `usher_session=<id>.<secret>`. Browsers send it only to paths below `pathOfCookies`, hide it from scripts,
 * and do not send it with requests from other sites. It authenticates only the exchange for a token.
 */
export interface SessionCookie {
  readonly id: string;
  readonly secret: string;
}

const cookieName = 'usher_session';
export const pathOfCookies = '/operator_authentication/sessions';
/** Longer `Cookie` headers are ignored. */
const maxHeaderLength = 8_192;

/** The value of the first cookie of that name in a `Cookie` header; `null` if there is none. */
export function cookieNamed(header: string | undefined, name: string): string | null {
  if (header === undefined || header.length > maxHeaderLength) return null;
  const pair = header
    .split(';')
    .map((each) => each.trim())
    .find((each) => each.startsWith(`${name}=`));
  return pair?.slice(name.length + 1) ?? null;
}

/** Reads the session from a `Cookie` header; `null` if the cookie is missing or malformed. */
export function readCookie(header: string | undefined): SessionCookie | null {
  const value = cookieNamed(header, cookieName) ?? '';
  const [, id, secret] = /^([\da-f-]{36})\.([\w-]{43})$/.exec(value) ?? [];
  return id === undefined || secret === undefined || !isUuid(id) ? null : { id, secret };
}

interface CookieOptions {
  readonly seconds: number;
  /** Whether browsers send the cookie over https only. */
  readonly secure: boolean;
}

/** The value of a `Set-Cookie` header. */
export function writeCookie({ id, secret }: SessionCookie, { seconds, secure }: CookieOptions): string {
  return [`${cookieName}=${id}.${secret}`, `Max-Age=${seconds}`, ...attributes(secure)].join('; ');
}

export function clearCookie(secure: boolean): string {
  return [`${cookieName}=`, 'Max-Age=0', ...attributes(secure)].join('; ');
}

function attributes(secure: boolean): string[] {
  return [`Path=${pathOfCookies}`, 'HttpOnly', 'SameSite=Strict', ...(secure ? ['Secure'] : [])];
}
