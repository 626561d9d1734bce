/** What a request says of where it comes from. */
export interface Provenance {
  readonly fetchSite: string | undefined;
  readonly origin: string | undefined;
  /** As the client wrote it, with the port. */
  readonly host: string;
  /** Goes before paths in links; empty: unknown. */
  readonly publicUrl: string;
}

/**
 * Whether a browser sent it from a page of ours, or no browser did.
 *
 * `Sec-Fetch-Site` is the browser's own word, which no page can forge, and settles it where it is sent: everywhere but over
 * plain http to other machines. There `Origin` must name the host that was asked, or the address others reach us by, which
 * differs where a proxy changes `Host`. What has neither is a program, which holds no one else's cookies.
 */
export function isSameOrigin({ fetchSite, origin, host, publicUrl }: Provenance): boolean {
  if (fetchSite !== undefined) return fetchSite === 'same-origin';
  if (origin === undefined) return true;
  if (!URL.canParse(origin)) return false;
  const from = new URL(origin);
  return from.host === hostAs(from.protocol, host) || (publicUrl !== '' && from.origin === new URL(publicUrl).origin);
}

/** Without the port where it is the scheme's own, as an origin is written. */
function hostAs(protocol: string, host: string): string | null {
  const url = `${protocol}//${host}`;
  return URL.canParse(url) ? new URL(url).host : null;
}
