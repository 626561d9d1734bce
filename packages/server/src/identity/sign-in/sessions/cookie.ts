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
/** Below the path under which a proxy serves Usher. */
const pathOfCookies = '/operator_authentication/sessions';
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

/** How browsers reach Usher. */
export interface CookieScope {
  /** Whether browsers send the cookie over https only. */
  readonly secure: boolean;
  readonly pathPrefix: string;
}

/** The value of a `Set-Cookie` header. */
export function writeCookie({ id, secret }: SessionCookie, seconds: number, scope: CookieScope): string {
  return [`${cookieName}=${id}.${secret}`, `Max-Age=${seconds}`, ...attributesOf(scope)].join('; ');
}

export function clearCookie(scope: CookieScope): string {
  return [`${cookieName}=`, 'Max-Age=0', ...attributesOf(scope)].join('; ');
}

export function attributesOf({ secure, pathPrefix }: CookieScope): string[] {
  return [`Path=${pathPrefix}${pathOfCookies}`, 'HttpOnly', 'SameSite=Strict', ...(secure ? ['Secure'] : [])];
}
