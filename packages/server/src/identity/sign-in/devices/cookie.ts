import { attributesOf, cookieNamed, type CookieScope } from '../sessions/cookie.ts';

/**
 * The device cookie, `usher_device=<secret>`, marks a browser that somebody has signed in with. It has the path of the session
 * cookie and gives no access. It only prevents that wrong passwords from elsewhere lock this browser out.
 */
const cookieName = 'usher_device';

/** Reads the secret from a `Cookie` header; `null` if the cookie is missing or malformed. */
export function readDevice(header: string | undefined): string | null {
  const value = cookieNamed(header, cookieName);
  return value !== null && /^[\w-]{43}$/.test(value) ? value : null;
}

/** The value of a `Set-Cookie` header. */
export function writeDevice(secret: string, seconds: number, scope: CookieScope): string {
  return [`${cookieName}=${secret}`, `Max-Age=${seconds}`, ...attributesOf(scope)].join('; ');
}
