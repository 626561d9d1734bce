import { createRemoteJWKSet, customFetch, type JWTVerifyGetKey } from 'jose';
import { BoundedMap } from '../../platform/bounded-map.ts';
import { defaultFetchLimits, type GuardedFetcher } from '../../platform/guarded-fetcher.ts';
import { AuthenticationFailed } from './authentication-failed.ts';
import { checkIdToken, type VisitorIdentity } from './id-token.ts';

/** An identity provider as one talks to it. */
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
  /** Providers whose words are remembered. */
  readonly providers: number;
  readonly rememberMs: number;
  /** So long a provider that could not be heard is not asked again: those who wait for it are told soon. */
  readonly rememberFailureMs: number;
  /** A token with an unknown key has the keys fetched again, but not sooner than this after the last time. */
  readonly keyCooldownMs: number;
}

const defaultLimits: OpenidLimits = {
  providers: 1_000,
  rememberMs: 10 * 60_000,
  rememberFailureMs: 2_000,
  keyCooldownMs: 5_000,
};

/** What a provider says of itself, and its keys. */
interface Metadata {
  readonly keys: JWTVerifyGetKey;
  readonly tokenEndpoint: URL | null;
  readonly authMethods: readonly unknown[];
}

/**
 * Talks to identity providers. What one says of itself is remembered for a while, each by itself: so nobody's broken or
 * busy provider is another's, though both name the same issuer.
 */
export class OpenidClient {
  readonly #fetcher: GuardedFetcher;
  readonly #limits: OpenidLimits;
  readonly #known: BoundedMap<string, { until: number; readonly metadata: Promise<Metadata> }>;

  constructor(fetcher: GuardedFetcher, limits: Partial<OpenidLimits> = {}) {
    this.#fetcher = fetcher;
    this.#limits = { ...defaultLimits, ...limits };
    this.#known = new BoundedMap(this.#limits.providers);
  }

  async check(provider: OpenidProvider, token: string, nonce: string | null): Promise<VisitorIdentity> {
    const { issuer, clientId } = provider;
    const { keys } = await this.#metadata(provider);
    return checkIdToken(token, keys, { issuer, clientId, nonce });
  }

  /** The ID token for a code. Once it is called, the code is spent, whatever comes of it. */
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

  /** Those who ask at the same time wait for the same answer. */
  async #metadata(provider: OpenidProvider): Promise<Metadata> {
    const known = this.#known.get(provider.id);
    if (known !== undefined && known.until > performance.now()) return known.metadata;
    const metadata = this.#discover(provider.issuer);
    const entry = { until: performance.now() + this.#limits.rememberMs, metadata };
    this.#known.delete(provider.id);
    this.#known.set(provider.id, entry);
    metadata.catch(() => {
      entry.until = performance.now() + this.#limits.rememberFailureMs;
    });
    return metadata;
  }

  async #discover(issuer: string): Promise<Metadata> {
    const address = new URL(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`);
    const said = jsonOf(await this.#fetcher.fetch(address, { headers: { accept: 'application/json' } }));
    if (said['issuer'] !== issuer) throw new AuthenticationFailed('provider_misconfigured');
    const methods = said['token_endpoint_auth_methods_supported'];
    return {
      keys: this.#keysAt(endpointOf(issuer, said['jwks_uri'])),
      tokenEndpoint: said['token_endpoint'] === undefined ? null : endpointOf(issuer, said['token_endpoint']),
      authMethods: Array.isArray(methods) ? methods : ['client_secret_basic'],
    };
  }

  #keysAt(address: URL): JWTVerifyGetKey {
    return createRemoteJWKSet(address, {
      cacheMaxAge: this.#limits.rememberMs,
      cooldownDuration: this.#limits.keyCooldownMs,
      timeoutDuration: defaultFetchLimits.totalMs,
      [customFetch]: async (url) => {
        const answer = await this.#fetcher.fetch(new URL(url), { headers: { accept: 'application/json' } });
        return Response.json(jsonOf(answer));
      },
    });
  }
}

/** Only an issuer that is itself in one of our networks may send us on by plain http. */
function endpointOf(issuer: string, given: unknown): URL {
  const url = typeof given === 'string' && URL.canParse(given) ? new URL(given) : null;
  const schemes = issuer.startsWith('http:') ? ['https:', 'http:'] : ['https:'];
  if (url === null || !schemes.includes(url.protocol) || url.username !== '' || url.password !== '')
    throw new AuthenticationFailed('provider_misconfigured');
  return url;
}

function jsonOf({ status, body }: { readonly status: number; readonly body: Buffer }): Record<string, unknown> {
  // Busy or broken for now, in its own words; anything else but success is not what a provider answers here.
  if (status >= 500 || status === 429) throw new AuthenticationFailed('provider_unreachable');
  try {
    const value: unknown = status === 200 ? JSON.parse(body.toString('utf8')) : null;
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value };
  } catch {
    // Without the parser's words, which repeat what it read: that may be a token, and causes are logged.
    throw new AuthenticationFailed('provider_misconfigured');
  }
  throw new AuthenticationFailed('provider_misconfigured');
}

/** RFC 6749, 2.3.1: by the header, unless the provider wants it in the body. A client without a secret only says its name. */
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
