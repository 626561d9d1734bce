/** The headers that say where a request comes from. */
export interface RequestOrigin {
  readonly fetchSite: string | undefined;
  readonly origin: string | undefined;
  /** The `Host` header, with the port. */
  readonly host: string;
  /** USHER_PUBLIC_URL; empty if not set. */
  readonly publicUrl: string;
}

/**
 * Whether the request comes from one of our own pages, or from a program that is not a browser.
 *
 * Browsers set `Sec-Fetch-Site` themselves and no page can forge it, so it decides if it is present. Browsers omit it only over
 * plain http to other machines. In that case `Origin` must match the `Host` header or the public URL, which differs from `Host`
 * behind some proxies. A request with neither header comes from a program, which has nobody else's cookies.
 */
export function isSameOrigin({ fetchSite, origin, host, publicUrl }: RequestOrigin): boolean {
  if (fetchSite !== undefined) return fetchSite === 'same-origin';
  if (origin === undefined) return true;
  if (!URL.canParse(origin)) return false;
  const from = new URL(origin);
  return (
    from.host === hostAsInOrigin(from.protocol, host) || (publicUrl !== '' && from.origin === new URL(publicUrl).origin)
  );
}

/** Drops the default port of the scheme, as `Origin` does. */
function hostAsInOrigin(protocol: string, host: string): string | null {
  const url = `${protocol}//${host}`;
  return URL.canParse(url) ? new URL(url).host : null;
}
