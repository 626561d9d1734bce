import Type from 'typebox';
import { checked } from '../../platform/schema.ts';

const format = /^(?:\[[\da-f:.]+\]|[^\s/?#@:[\]\\%]+)$/i;

/** A query parameter that names a host. */
export const hostname = checked(
  Type.String({
    minLength: 1,
    maxLength: 255,
    description: 'Only sites with this host among their addresses or allowed_origins, such as shop.example.com',
  }),
  (value) =>
    typeof value === 'string' && !format.test(value)
      ? [{ attribute: '', detail: 'must be a host name such as shop.example.com, without scheme, port or path' }]
      : [],
);

/** The spellings under which a site may have stored the host: as given, and in its DNS form (punycode). */
export function hostnameSpellings(given: string): string[] {
  const address = `http://${given}`;
  const forms = [given.toLowerCase(), ...(URL.canParse(address) ? [new URL(address).hostname] : [])];
  return [...new Set(forms)];
}
