/** The scheme in lower case, such as `https`; empty if the text has none. */
export function schemeOf(url: string): string {
  return /^([a-z]+):\/\//i.exec(url)?.[1]?.toLowerCase() ?? '';
}

/** The URL parser silently drops or converts these characters; other parsers may not, and would see another URL. */
export function characterFault(url: string): string | null {
  return /[\s\p{Cc}\\]/u.test(url) ? 'must not contain spaces, control characters or backslashes' : null;
}

/** The fault of a URL that begins with http:// or https://. */
export function httpUrlFault(url: string): string | null {
  if (!URL.canParse(url)) return 'must be a URL with a host';
  // The URL parser accepts any number of slashes before the host.
  return /^[^:]*:\/+[^/?#]*@/.test(url) ? 'must not contain a user name or password' : null;
}
