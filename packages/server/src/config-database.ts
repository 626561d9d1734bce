import { readFileSync } from 'node:fs';

/** Where the user's own database is: a URL, or a file with one, which is read again for each connection. */
export type UserDatabase =
  { readonly kind: 'url'; readonly url: string } | { readonly kind: 'file'; readonly path: string };

export const sessionKinds = ['any', 'read-write', 'primary'] as const;
/** What `target_session_attrs` means: `read-write`, a server that accepts writes. `primary`, one that is not a standby. */
export type SessionKind = (typeof sessionKinds)[number];

/** The URL of each host, in order, because the URL of a database may name several: `postgres://user@one:5432,two:5433/database`. */
export function urlsOf(url: string): string[] {
  const start = url.indexOf('://') + '://'.length;
  const length = url.slice(start).search(/[/?#]/);
  const end = length === -1 ? url.length : start + length;
  const from = Math.max(start, url.lastIndexOf('@', end) + 1);
  return url
    .slice(from, end)
    .split(',')
    .map((host) => `${url.slice(0, from)}${host}${url.slice(end)}`);
}

/** The URL of the database now. Throws if the file cannot be read or has no such URL; the message does not repeat what it has. */
export function urlOf(database: UserDatabase): string {
  if (database.kind === 'url') return database.url;
  const url = readFileSync(database.path, 'utf8').trim();
  if (!isDatabaseUrl(url)) throw new Error(`${database.path} does not contain a URL like ${exampleUrl}.`);
  return url;
}

export const exampleUrl = 'postgres://user:password@host:5432/database';

/** Whether the URL can be used. */
export function isDatabaseUrl(url: string): boolean {
  return urlsOf(url).every((each) => {
    const parsed = URL.canParse(each) ? new URL(each) : null;
    if (parsed === null || !['postgres:', 'postgresql:'].includes(parsed.protocol)) return false;
    return isSessionKind(parsed.searchParams.get('target_session_attrs') ?? 'any');
  });
}

export function isSessionKind(text: string): text is SessionKind {
  return sessionKinds.some((kind) => kind === text);
}
