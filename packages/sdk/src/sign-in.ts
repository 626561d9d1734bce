import { KeyAuthorization, type Authorization, type IssuedToken } from './authorization.ts';
import { unknownError } from './errors.ts';
import { jsonRequest, readJson } from './request.ts';
import { Transport, type TransportOptions } from './transport.ts';

export interface KeyCredentials {
  /** An API key of an operator. The client signs in with it, and renews its token. */
  readonly key: { readonly id: string; readonly secret: string };
  /** Limits the token to these sites. */
  readonly siteIds?: readonly string[];
}

/** Signs in with an API key when a token is needed. */
export function keyAuthorization(options: TransportOptions & KeyCredentials): Authorization {
  const { key, siteIds } = options;
  const body = { api_key_id: key.id, api_key_secret: key.secret, ...(siteIds && { site_ids: siteIds }) };
  const request = jsonRequest({ method: 'POST', path: '/operator_authentication/tokens', body });
  const anonymous = new Transport(options);
  return new KeyAuthorization(async () => anonymous.send(request, readToken));
}

async function readToken(response: Response): Promise<IssuedToken> {
  const issued = ((await readJson(response)) ?? {}) as Partial<IssuedToken>;
  if (typeof issued.token === 'string' && typeof issued.expires_in === 'number') return issued as IssuedToken;
  throw unknownError(response, 'The answer has no token. Check that the URL is that of Usher.');
}
