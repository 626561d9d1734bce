import Type from 'typebox';
import { checked } from '../../platform/schema.ts';

const shape = /^(?:\[[\da-f:.]+\]|[^\s/?#@:[\]\\%]+)$/i;

/** A query parameter that names a host. */
export const hostname = checked(
  Type.String({
    minLength: 1,
    maxLength: 255,
    description: 'Only sites with this host among their addresses or allowed_origins, such as shop.example.com',
  }),
  (value) =>
    typeof value === 'string' && !shape.test(value)
      ? [{ attribute: '', detail: 'must be a host name such as shop.example.com, without scheme, port and path' }]
      : [],
);

/** The ways in which a site may have written the host: as it is given, and as it is in the domain name system. */
export function formsOfHostname(given: string): string[] {
  const address = `http://${given}`;
  const forms = [given.toLowerCase(), ...(URL.canParse(address) ? [new URL(address).hostname] : [])];
  return [...new Set(forms)];
}
