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
