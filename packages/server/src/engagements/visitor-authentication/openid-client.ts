import { createRemoteJWKSet, customFetch, type JWTVerifyGetKey } from 'jose';
import { BoundedMap } from '../../platform/bounded-map.ts';
import { defaultFetchLimits, type GuardedFetcher } from '../../platform/outbound/guarded-fetcher.ts';
import { AuthenticationFailed } from './authentication-failed.ts';
import { checkIdToken, type VisitorIdentity } from './id-token.ts';

/** What is needed to talk to an identity provider. */
export interface OpenidProvider {
  readonly id: string;
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string | null;
}

export interface Code {
  readonly code: string;
  readonly redirectUri: string;
  readonly verifier: string;
}

interface OpenidLimits {
  /** Providers whose metadata is cached. */
  readonly providers: number;
  readonly cacheMs: number;
  /** How long a failure is cached. Requests in this time fail at once instead of waiting for the same provider. */
  readonly cacheFailureMs: number;
  /** Minimum time between two fetches of the keys, which a token with an unknown key causes. */
  readonly keyCooldownMs: number;
}

const defaultLimits: OpenidLimits = {
  providers: 1_000,
  cacheMs: 10 * 60_000,
  cacheFailureMs: 2_000,
  keyCooldownMs: 5_000,
};

/** The discovery document of a provider, and its keys. */
interface Metadata {
  readonly keys: JWTVerifyGetKey;
  readonly tokenEndpoint: URL | null;
  readonly authMethods: readonly unknown[];
}

/**
 * Talks to identity providers. Metadata is cached per registered provider and not per issuer, so that a failing or overloaded
 * registration does not affect another one with the same issuer.
 */
export class OpenidClient {
  readonly #fetcher: GuardedFetcher;
  readonly #limits: OpenidLimits;
  readonly #cache: BoundedMap<string, { until: number; readonly metadata: Promise<Metadata> }>;

  constructor(fetcher: GuardedFetcher, limits: Partial<OpenidLimits> = {}) {
    this.#fetcher = fetcher;
    this.#limits = { ...defaultLimits, ...limits };
    this.#cache = new BoundedMap(this.#limits.providers);
  }

  async check(provider: OpenidProvider, token: string, nonce: string | null): Promise<VisitorIdentity> {
    const { issuer, clientId } = provider;
    const { keys } = await this.#metadata(provider);
    return checkIdToken(token, keys, { issuer, clientId, nonce });
  }

  /** Exchanges a code for an ID token. The code cannot be used again, even if the exchange fails. */
  async exchange(provider: OpenidProvider, given: Code): Promise<string> {
    const { tokenEndpoint, authMethods } = await this.#metadata(provider);
    if (tokenEndpoint === null) throw new AuthenticationFailed('provider_misconfigured');
    const { headers, fields } = clientAuthentication(provider, authMethods);
    const answer = await this.#fetcher.fetch(tokenEndpoint, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json', ...headers },
      body: new URLSearchParams({
        grant_type: 'authorization_code',
        code: given.code,
        redirect_uri: given.redirectUri,
        code_verifier: given.verifier,
        ...fields,
      }).toString(),
    });
    if (answer.status === 400 || answer.status === 401) throw new AuthenticationFailed('code_rejected');
    const { id_token: token } = jsonOf(answer);
    if (typeof token !== 'string') throw new AuthenticationFailed('no_id_token');
    return token;
  }

  /** Concurrent callers share one request. */
  async #metadata(provider: OpenidProvider): Promise<Metadata> {
    const cached = this.#cache.get(provider.id);
    if (cached !== undefined && cached.until > performance.now()) return cached.metadata;
    const metadata = this.#discover(provider.issuer);
    const entry = { until: performance.now() + this.#limits.cacheMs, metadata };
    this.#cache.delete(provider.id);
    this.#cache.set(provider.id, entry);
    metadata.catch(() => {
      entry.until = performance.now() + this.#limits.cacheFailureMs;
    });
    return metadata;
  }

  async #discover(issuer: string): Promise<Metadata> {
    const address = new URL(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`);
    const document = jsonOf(await this.#fetcher.fetch(address, { headers: { accept: 'application/json' } }));
    if (document['issuer'] !== issuer) throw new AuthenticationFailed('provider_misconfigured');
    const methods = document['token_endpoint_auth_methods_supported'];
    return {
      keys: this.#keysAt(endpointOf(issuer, document['jwks_uri'])),
      tokenEndpoint: document['token_endpoint'] === undefined ? null : endpointOf(issuer, document['token_endpoint']),
      authMethods: Array.isArray(methods) ? methods : ['client_secret_basic'],
    };
  }

  #keysAt(address: URL): JWTVerifyGetKey {
    return createRemoteJWKSet(address, {
      cacheMaxAge: this.#limits.cacheMs,
      cooldownDuration: this.#limits.keyCooldownMs,
      timeoutDuration: defaultFetchLimits.totalMs,
      [customFetch]: async (url) => {
        const answer = await this.#fetcher.fetch(new URL(url), { headers: { accept: 'application/json' } });
        return Response.json(jsonOf(answer));
      },
    });
  }
}

/** Endpoints may use http only if the issuer does; such an issuer is in an allowed network. */
function endpointOf(issuer: string, given: unknown): URL {
  const url = typeof given === 'string' && URL.canParse(given) ? new URL(given) : null;
  const schemes = issuer.startsWith('http:') ? ['https:', 'http:'] : ['https:'];
  if (url === null || !schemes.includes(url.protocol) || url.username !== '' || url.password !== '')
    throw new AuthenticationFailed('provider_misconfigured');
  return url;
}

function jsonOf({ status, body }: { readonly status: number; readonly body: Buffer }): Record<string, unknown> {
  // 429 and 5xx are temporary. Any other status except 200 means that the provider is misconfigured.
  if (status >= 500 || status === 429) throw new AuthenticationFailed('provider_unreachable');
  try {
    const value: unknown = status === 200 ? JSON.parse(body.toString('utf8')) : null;
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value };
  } catch {
    // The parser's error is not used as the cause: it quotes the input, which may be a token, and causes are logged.
    throw new AuthenticationFailed('provider_misconfigured');
  }
  throw new AuthenticationFailed('provider_misconfigured');
}

/** RFC 6749, 2.3.1: in the header, unless the provider supports only the body. A client without a secret sends only its id. */
function clientAuthentication(
  { clientId, clientSecret }: OpenidProvider,
  methods: readonly unknown[],
): { readonly headers: Record<string, string>; readonly fields: Record<string, string> } {
  if (clientSecret === null) return { headers: {}, fields: { client_id: clientId } };
  if (methods.includes('client_secret_basic')) {
    const pair = [clientId, clientSecret].map(formEncoded).join(':');
    return { headers: { authorization: `Basic ${Buffer.from(pair).toString('base64')}` }, fields: {} };
  }
  if (methods.includes('client_secret_post'))
    return { headers: {}, fields: { client_id: clientId, client_secret: clientSecret } };
  throw new AuthenticationFailed('provider_misconfigured');
}

function formEncoded(text: string): string {
  return new URLSearchParams({ '': text }).toString().slice(1);
}
