/** `https` of `https://example.com`, in lower case; nothing if the text names no protocol. */
export function schemeOf(url: string): string {
  return /^([a-z]+):\/\//i.exec(url)?.[1]?.toLowerCase() ?? '';
}

/** The URL parser would drop or turn these in silence, and another receiver of the text might not. */
export function characterFault(url: string): string | null {
  return /[\s\p{Cc}\\]/u.test(url) ? 'must not contain spaces, control characters or backslashes' : null;
}

/** What is wrong with a URL that begins with http:// or https://. */
export function httpUrlFault(url: string): string | null {
  if (!URL.canParse(url)) return 'must be a URL with a host';
  // Of slashes before the host there may be any number.
  return /^[^:]*:\/+[^/?#]*@/.test(url) ? 'must not contain a user name or password' : null;
}
