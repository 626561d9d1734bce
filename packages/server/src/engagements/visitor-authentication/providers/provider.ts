import { maxClientSecretLength, maxNameLength, maxRedirectUris, maxUrlLength } from '@usher/contract/limits';
import Type from 'typebox';
import type { Violation } from '../../../platform/errors.ts';
import type { AccountId, Id, SiteId } from '../../../platform/ids.ts';
import { body, checked, list, name, oneOf, output, timestamp, uuid } from '../../../platform/schema.ts';

export type ProviderId = Id<'visitor_authentication_provider'>;

const type = oneOf(['openid_connect'] as const);
const clientId = Type.String({ minLength: 1, maxLength: maxNameLength });
const redirectUri = Type.String({ minLength: 1, maxLength: maxUrlLength });

const issuer = checked(
  Type.String({
    maxLength: maxUrlLength,
    description: 'The exact issuer URL of the provider; https, or http in a network that the settings allow',
  }),
  (value) => violationOfIssuer(value),
);

export const providerInput = body({
  name,
  type,
  issuer,
  client_id: clientId,
  client_secret: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: maxClientSecretLength,
      description: 'Used to exchange codes; never shown again',
    }),
  ),
  redirect_uris: Type.Optional(
    list(
      checked(redirectUri, (value) => violationOfRedirect(value)),
      { maxItems: maxRedirectUris, uniqueItems: true },
    ),
  ),
});

export const providerOutput = output('VisitorAuthenticationProvider', {
  id: uuid<'visitor_authentication_provider'>(),
  site_id: uuid<'site'>(),
  name,
  type,
  issuer: Type.String(),
  client_id: clientId,
  has_client_secret: Type.Boolean(),
  redirect_uris: Type.Array(Type.String()),
  created_at: timestamp,
});

/** A provider cannot be changed, only deleted and created again. */
export interface ProviderRow extends Type.Static<typeof providerOutput> {
  readonly id: ProviderId;
  readonly account_id: AccountId;
  readonly site_id: SiteId;
  /** Sealed for `clientSecretPurpose`. */
  readonly client_secret: Buffer | null;
}

export function clientSecretPurpose(id: ProviderId): string {
  return `client secret of the provider ${id}`;
}

/** OpenID Connect Discovery: an issuer has no query and no fragment. */
function violationOfIssuer(value: unknown): Violation[] {
  const url = typeof value === 'string' && URL.canParse(value) ? new URL(value) : null;
  const isPlain = url !== null && url.username === '' && url.password === '' && !/[?#\s]/.test(String(value));
  if (isPlain && ['https:', 'http:'].includes(url.protocol)) return [];
  return [{ attribute: '', detail: 'must be an https URL without query, fragment and user info' }];
}

function violationOfRedirect(value: unknown): Violation[] {
  if (typeof value === 'string' && URL.canParse(value) && !/[#\s]/.test(value)) return [];
  return [{ attribute: '', detail: 'must be an absolute URL without a fragment' }];
}
