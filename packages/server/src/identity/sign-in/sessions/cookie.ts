import { isUuid } from '../../../platform/ids.ts';

/**
 * A session as the browser holds it: `usher_session=<id>.<secret>`. It goes to the addresses below `path` alone, is out of
 * reach of scripts, and is sent by no other site's page; and it authenticates nothing but the exchange for a token.
 */
export interface SessionCookie {
  readonly id: string;
  readonly secret: string;
}

const cookieName = 'usher_session';
export const pathOfCookies = '/operator_authentication/sessions';
/** Longer `Cookie` headers are other people's: nothing of them is read. */
const longestHeader = 8_192;

/** The value of that cookie in a `Cookie` header; `null`: it has none. Where there are several, the first counts. */
export function cookieNamed(header: string | undefined, name: string): string | null {
  if (header === undefined || header.length > longestHeader) return null;
  const pair = header
    .split(';')
    .map((each) => each.trim())
    .find((each) => each.startsWith(`${name}=`));
  return pair?.slice(name.length + 1) ?? null;
}

/** What a `Cookie` header says of our session; `null`: nothing that could be one. */
export function readCookie(header: string | undefined): SessionCookie | null {
  const value = cookieNamed(header, cookieName) ?? '';
  const [, id, secret] = /^([\da-f-]{36})\.([\w-]{43})$/.exec(value) ?? [];
  return id === undefined || secret === undefined || !isUuid(id) ? null : { id, secret };
}

interface Lasting {
  readonly seconds: number;
  /** Whether it may travel by https alone. */
  readonly secure: boolean;
}

/** A `Set-Cookie` header. */
export function writeCookie({ id, secret }: SessionCookie, { seconds, secure }: Lasting): string {
  return [`${cookieName}=${id}.${secret}`, `Max-Age=${seconds}`, ...attributes(secure)].join('; ');
}

export function clearCookie(secure: boolean): string {
  return [`${cookieName}=`, 'Max-Age=0', ...attributes(secure)].join('; ');
}

function attributes(secure: boolean): string[] {
  return [`Path=${pathOfCookies}`, 'HttpOnly', 'SameSite=Strict', ...(secure ? ['Secure'] : [])];
}
