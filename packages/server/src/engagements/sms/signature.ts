import { createHmac, timingSafeEqual } from 'node:crypto';

interface Signed {
  /** As the carrier was told it, with its query. */
  readonly url: string;
  readonly form: URLSearchParams;
  readonly signature: string;
}

/**
 * Twilio's request signature: the address, and each parameter's name and value in the order of their names, under HMAC-SHA1
 * with the account's token. All that was sent counts, as Twilio adds parameters without notice. Whether the address it signs
 * has the port in it differs, so both forms are good.
 */
export function isSigned(authToken: string, { url, form, signature }: Signed): boolean {
  const names = [...new Set(form.keys())].toSorted(byCodeUnits);
  const values = (name: string): string[] => [...new Set(form.getAll(name))].toSorted(byCodeUnits);
  const fields = names.map((name) => values(name).map((value) => `${name}${value}`).join('')).join(''); // prettier-ignore
  const given = Buffer.from(signature, 'base64');
  const expected = addresses(url).map((address) =>
    createHmac('sha1', authToken).update(`${address}${fields}`).digest(),
  );
  return expected.some((digest) => digest.length === given.length && timingSafeEqual(digest, given));
}

function byCodeUnits(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

function addresses(url: string): string[] {
  const { protocol, host, hostname, port } = new URL(url);
  const other = port === '' ? `${hostname}:${protocol === 'https:' ? 443 : 80}` : hostname;
  return [url, url.replace(host, other)];
}
