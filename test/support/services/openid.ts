import { createHash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { exportJWK, generateKeyPair, SignJWT, type CryptoKey, type JWK, type JWTPayload } from 'jose';
import type { Json } from '../server.ts';

interface Key {
  readonly kid: string;
  readonly alg: string;
  readonly privateKey: CryptoKey;
  readonly publicJwk: JWK;
}

/** What an authorization code was issued for. */
interface Grant {
  readonly challenge: string;
  readonly redirectUri: string;
  readonly claims: Claims;
}

interface TokenRequest {
  readonly authorization: string | undefined;
  readonly fields: Readonly<Record<string, string>>;
}

/** A claim that is `undefined` is left out of the token. */
export type Claims = Readonly<Record<string, unknown>>;

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

/** An identity provider for tests: real HTTP on loopback and real signatures. Tests can make it misbehave. */
export class TestOpenid {
  readonly clientId = 'usher-client';
  issuer = '';
  keys: Key[] = [];
  /** The path of every request, in order. */
  readonly requestedPaths: string[] = [];
  readonly tokenRequests: TokenRequest[] = [];
  /** Fields that extend or replace the discovery document. */
  metadata: Json = {};
  /** Handlers that replace the default response of a path. */
  readonly overrides = new Map<string, Answer>();
  readonly #grants = new Map<string, Grant>();
  readonly #server = createServer((request, response) => {
    this.requestedPaths.push(request.url ?? '');
    void this.answer(request, response);
  });

  async start(port = 0): Promise<this> {
    this.#server.listen(port, '127.0.0.1');
    await once(this.#server, 'listening');
    const address = this.#server.address();
    if (typeof address !== 'object' || address === null) throw new Error('no port');
    this.issuer = `http://127.0.0.1:${address.port}`;
    await this.rotate();
    return this;
  }

  async stop(): Promise<void> {
    if (!this.#server.listening) return;
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  /** Signs with a new key from now on, and publishes no other. */
  async rotate(alg = 'RS256'): Promise<void> {
    this.keys = [await makeKey(alg)];
  }

  /** The published part of the only key. */
  get publicJwk(): JWK {
    return this.#key.publicJwk;
  }

  /** A valid ID token, except for the given claims and header fields. */
  async idToken(claims: Claims = {}, header: Readonly<Record<string, unknown>> = {}): Promise<string> {
    const { alg, kid, privateKey } = this.#key;
    return new SignJWT(this.claims(claims)).setProtectedHeader({ alg, kid, ...header }).sign(privateKey);
  }

  claims(claims: Claims = {}): JWTPayload {
    const now = Math.floor(Date.now() / 1000);
    const all = {
      iss: this.issuer,
      aud: this.clientId,
      sub: 'ada',
      iat: now,
      exp: now + 300,
      jti: randomUUID(),
      ...claims,
    };
    return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
  }

  /** Issues an authorization code, as if the visitor had just signed in. */
  grant(verifier: string, redirectUri: string, claims: Claims = {}): string {
    const code = randomUUID();
    const challenge = createHash('sha256').update(verifier).digest('base64url');
    this.#grants.set(code, { challenge, redirectUri, claims });
    return code;
  }

  get #key(): Key {
    const [key] = this.keys;
    if (key === undefined) throw new Error('the provider has no key');
    return key;
  }

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url ?? '';
    const override = this.overrides.get(path);
    if (override !== undefined) return override(request, response);
    if (path === '/.well-known/openid-configuration') return json(response, 200, this.#metadata());
    if (path === '/jwks') return json(response, 200, { keys: this.keys.map(({ publicJwk }) => publicJwk) });
    if (path === '/token') return this.#exchange(request, response);
    return json(response, 404, {});
  }

  #metadata(): Json {
    const { issuer } = this;
    return { issuer, jwks_uri: `${issuer}/jwks`, token_endpoint: `${issuer}/token`, ...this.metadata };
  }

  /** RFC 6749 and 7636: a code works once, with its own verifier and redirect_uri. */
  async #exchange(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const fields = Object.fromEntries(new URLSearchParams(Buffer.concat(chunks).toString()));
    this.tokenRequests.push({ authorization: request.headers.authorization, fields });
    const { code = '', code_verifier: verifier = '', redirect_uri: redirectUri } = fields;
    const grant = this.#grants.get(code);
    this.#grants.delete(code);
    const challenge = createHash('sha256').update(verifier).digest('base64url');
    const isValid = grant?.challenge === challenge && grant.redirectUri === redirectUri;
    if (!isValid) return json(response, 400, { error: 'invalid_grant' });
    return json(response, 200, { token_type: 'Bearer', access_token: 'x', id_token: await this.idToken(grant.claims) });
  }
}

function json(response: ServerResponse, status: number, body: Json): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

async function makeKey(alg: string): Promise<Key> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
  const kid = randomUUID();
  return { kid, alg, privateKey, publicJwk: { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' } };
}
