import { cookieNamed, pathOfCookies } from '../sessions/cookie.ts';

/**
 * A browser that somebody has signed in with, as it says so itself: `usher_device=<secret>`. It goes where the session's cookie
 * goes, and lets nobody in: it only keeps the guesses of others from locking this browser out.
 */
const cookieName = 'usher_device';

/** The secret in a `Cookie` header; `null`: there is none that could be one. */
export function readDevice(header: string | undefined): string | null {
  const value = cookieNamed(header, cookieName);
  return value !== null && /^[\w-]{43}$/.test(value) ? value : null;
}

/** A `Set-Cookie` header. */
export function writeDevice(secret: string, { seconds, secure }: { seconds: number; secure: boolean }): string {
  const attributes = [`Max-Age=${seconds}`, `Path=${pathOfCookies}`, 'HttpOnly', 'SameSite=Strict'];
  return [`${cookieName}=${secret}`, ...attributes, ...(secure ? ['Secure'] : [])].join('; ');
}
