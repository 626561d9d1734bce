import { timingSafeEqual } from 'node:crypto';
import { BoundedMap } from '../platform/bounded-map.ts';
import { Refusal } from '../platform/errors.ts';
import type { AccountId, OperatorId, SiteId, VisitorId } from '../platform/ids.ts';
import { isUuid } from '../platform/ids.ts';
import { isAccessToken, parseAccessToken } from './access-tokens/access-token.ts';
import type { CachedAccessToken } from './access-tokens/store.ts';
import type { Caller } from './caller.ts';
import type { Directory } from './directory.ts';
import type { CachedOperator } from './directory-store.ts';
import { digestOf, verifySecret } from './secrets.ts';
import type { Claims, Tokens } from './tokens.ts';

function unauthenticated(detail: string): Refusal {
  return new Refusal('unauthenticated', detail, { headers: { 'www-authenticate': 'Bearer' } });
}

/** Only for a caller whose credentials are valid: nobody else learns about the account. */
function refuseDisabled({ isAccountDisabled }: { readonly isAccountDisabled: boolean }): void {
  if (isAccountDisabled)
    throw new Refusal(
      'account_disabled',
      'The account is disabled. Ask the administrator of this service to enable it.',
    );
}

const invalidToken = 'The token is invalid or has expired. Obtain a new one.';
const invalidApplicationToken = 'The application token is invalid.';

interface CachedCaller {
  readonly caller: Caller;
  /** The entry of `subject` in the directory that `caller` was built from. */
  readonly entry: object;
  readonly subject: string;
  readonly proof: Proof;
}

/** What authenticated the caller. The cached caller is used only while the proof is valid. */
type Proof =
  | {
      readonly kind: 'signed';
      /** `Keyring.epoch` when the signature was verified. */
      readonly epoch: object;
      readonly tokenId: string;
      readonly expiresAt: number;
    }
  | { readonly kind: 'long-lived'; readonly token: CachedAccessToken };

interface AccessTokenOptions {
  /** Epoch milliseconds by the database's clock, which decides when an access token expires. */
  readonly now: () => number;
  /** Called with the token's id at each use. */
  readonly onUse: (id: string) => void;
}

/** The header is a cache key, so its length is limited. */
const maxHeaderLength = 4_096;
/** Callers are cached so that each process verifies the signature of a token once. */
const maxCachedCallers = 20_000;

/** Finds the caller from the Authorization header. Most callers are cached and returned without a promise. */
export class Authenticator {
  readonly #tokens: Tokens;
  readonly #directory: Directory;
  /** By Authorization header. */
  readonly #callers = new BoundedMap<string, CachedCaller>(maxCachedCallers);

  /** Ids of sessions that the database no longer has. */
  readonly #ended = new BoundedMap<string, true>(maxCachedCallers);

  /** Checks in progress of the secrets of application tokens. */
  readonly #checks = new Map<string, Promise<boolean>>();

  readonly #accessTokenOptions: AccessTokenOptions;

  constructor(tokens: Tokens, directory: Directory, accessTokenOptions: AccessTokenOptions) {
    this.#tokens = tokens;
    this.#directory = directory;
    this.#accessTokenOptions = accessTokenOptions;
  }

  authenticate(header: string | undefined): Caller | Promise<Caller> {
    if (header === undefined)
      throw unauthenticated('This request needs a token. Send it as "Authorization: Bearer <token>".');
    if (header.length > maxHeaderLength)
      throw unauthenticated(`The Authorization header must have at most ${maxHeaderLength} characters.`);
    return this.#cachedCaller(header) ?? this.#verify(header);
  }

  /** The cached caller, unless its proof or its entry in the directory has changed. */
  #cachedCaller(header: string): Caller | undefined {
    const cached = this.#callers.get(header);
    if (cached === undefined || !this.#isValid(cached.proof)) return undefined;
    const { operators, visitors } = this.#directory;
    const entry = (cached.caller.kind === 'operator' ? operators : visitors).peek(cached.subject);
    if (entry !== cached.entry) return undefined;
    if (cached.proof.kind === 'long-lived') this.#accessTokenOptions.onUse(cached.proof.token.id);
    return cached.caller;
  }

  #isValid(proof: Proof): boolean {
    const { revokedTokens, accessTokens } = this.#directory;
    if (proof.kind === 'long-lived')
      return accessTokens.peek(proof.token.id) === proof.token && !this.#hasExpired(proof.token);
    const { epoch, expiresAt, tokenId } = proof;
    return epoch === this.#tokens.epoch && expiresAt > this.#tokens.now() && revokedTokens.peek(tokenId) === false;
  }

  #hasExpired({ expiresAt }: CachedAccessToken): boolean {
    return expiresAt !== null && expiresAt.getTime() <= this.#accessTokenOptions.now();
  }

  async #verify(header: string): Promise<Caller> {
    const { scheme, token } = splitHeader(header);
    if (scheme === 'applicationtoken') return this.#application(token);
    // Some existing clients send "Token <token>".
    if (scheme !== 'bearer' && scheme !== 'token') {
      throw unauthenticated('The Authorization header must be "Bearer <token>" or "ApplicationToken <token>".');
    }
    const verified = isAccessToken(token) ? await this.#accessToken(token) : await this.#signed(token);
    this.#callers.set(header, verified);
    return verified.caller;
  }

  async #accessToken(text: string): Promise<CachedCaller> {
    const given = parseAccessToken(text);
    const token = given === null ? null : await this.#directory.accessTokens.get(given.id);
    if (given === null || token === null || !timingSafeEqual(token.digest, digestOf(given.secret)))
      throw unauthenticated(invalidToken);
    if (this.#hasExpired(token)) throw unauthenticated(invalidToken);
    const entry = await this.#directory.operators.get(token.operatorId);
    if (entry?.enabled !== true) throw unauthenticated(invalidToken);
    refuseDisabled(entry);
    this.#accessTokenOptions.onUse(token.id);
    const caller = longLivedCaller(token, entry);
    return { caller, entry, subject: token.operatorId, proof: { kind: 'long-lived', token } };
  }

  async #signed(token: string): Promise<CachedCaller> {
    const { epoch } = this.#tokens;
    const claims = await this.#tokens.verify(token);
    if (claims === null || (await this.#directory.revokedTokens.get(claims.jti))) throw unauthenticated(invalidToken);
    const { caller, entry } = await this.#bearer(claims);
    const proof = { kind: 'signed', epoch, tokenId: claims.jti, expiresAt: claims.exp * 1000 } as const;
    return { caller, entry, subject: claims.sub, proof };
  }

  async #bearer(claims: Claims): Promise<{ caller: Caller; entry: object }> {
    if (claims.kind === 'operator') {
      const entry = await this.#operator(claims);
      if (entry === null || entry.accountId !== claims.account) throw unauthenticated(invalidToken);
      const caller = operatorCaller(claims, entry);
      refuseDisabled(entry);
      return { caller, entry };
    }
    const entry = await this.#directory.visitors.get(claims.sub);
    if (entry === null || entry.accountId !== claims.account) throw unauthenticated(invalidToken);
    refuseDisabled(entry);
    return { caller: visitorCaller(claims, entry), entry };
  }

  /**
   * Another process may have opened the session a moment ago, so the cached operator may lack it. In that case the operator
   * is read again.
   */
  async #operator({ sub, session }: Claims): Promise<CachedOperator | null> {
    const { operators } = this.#directory;
    const cached = await operators.get(sub);
    if (session === undefined || cached?.sessionIds.has(session) !== false || this.#ended.get(session) === true)
      return cached;
    operators.drop(sub);
    const reloaded = await operators.get(sub);
    // An ended session never comes back, so it is not looked up again.
    if (reloaded?.sessionIds.has(session) === false) this.#ended.set(session, true);
    return reloaded;
  }

  async #application(token: string): Promise<Caller> {
    const parsed = parseApplicationToken(token);
    const stored = parsed === null ? null : await this.#directory.applicationTokens.get(parsed.id);
    if (parsed === null || stored === null) throw unauthenticated(invalidApplicationToken);
    const digest = digestOf(parsed.secret);
    const matches =
      stored.verifiedDigest === null
        ? await this.#checkSecret(parsed, stored.secretHash, digest)
        : timingSafeEqual(stored.verifiedDigest, digest);
    if (!matches) throw unauthenticated(invalidApplicationToken);
    stored.verifiedDigest = digest;
    refuseDisabled(stored);
    return {
      kind: 'application',
      key: `application:${stored.id}`,
      accountId: stored.accountId,
      applicationTokenId: stored.id,
      siteId: stored.siteId,
      trust: stored.kind,
    };
  }

  /** Concurrent requests with the same secret share one slow check. */
  async #checkSecret(token: ApplicationTokenText, hash: string, digest: Buffer): Promise<boolean> {
    const key = `${token.id} ${digest.toString('base64')}`;
    const check = this.#checks.get(key) ?? verifySecret(token.secret, hash).finally(() => this.#checks.delete(key));
    this.#checks.set(key, check);
    return check;
  }
}

function splitHeader(header: string): { scheme: string; token: string } {
  const space = header.indexOf(' ');
  return { scheme: header.slice(0, Math.max(space, 0)).toLowerCase(), token: header.slice(space + 1).trim() };
}

function operatorCaller(claims: Claims, operator: CachedOperator): Caller {
  const { sites, key = '', session } = claims;
  const isCredentialValid = session === undefined ? operator.keyIds.has(key) : operator.sessionIds.has(session);
  if (!operator.enabled || !isCredentialValid) throw unauthenticated(invalidToken);
  return {
    kind: 'operator',
    key: `operator:${claims.sub}`,
    accountId: claims.account as AccountId,
    operatorId: claims.sub as OperatorId,
    isMadeUp: claims.made_up === true,
    limited: sites !== undefined,
    roles: sites === undefined ? operator.roles : new Map([...operator.roles].filter(([site]) => sites.includes(site))),
    credentialId: session ?? key,
    token: { kind: 'signed', id: claims.jti, expiresAt: new Date(claims.exp * 1000) },
    sessionId: session ?? null,
  };
}

function longLivedCaller(
  { id, accountId, operatorId, expiresAt }: CachedAccessToken,
  operator: CachedOperator,
): Caller {
  return {
    kind: 'operator',
    key: `operator:${operatorId}`,
    accountId,
    operatorId,
    isMadeUp: false,
    limited: false,
    roles: operator.roles,
    credentialId: id,
    token: { kind: 'long-lived', id, expiresAt },
    sessionId: null,
  };
}

function visitorCaller(claims: Claims, visitor: { readonly siteId: SiteId }): Caller {
  return {
    kind: 'visitor',
    key: `visitor:${claims.sub}`,
    accountId: claims.account as AccountId,
    visitorId: claims.sub as VisitorId,
    siteId: visitor.siteId,
    trust: claims.trust ?? 'publishable',
  };
}

interface ApplicationTokenText {
  readonly id: string;
  readonly secret: string;
}

/** An application token has the form `<prefix>_<id>.<secret>`. */
function parseApplicationToken(token: string): ApplicationTokenText | null {
  const found = /^(?:pub|sec)_([\da-f-]{36})\.([\w-]{20,100})$/.exec(token);
  if (found?.[1] === undefined || found[2] === undefined || !isUuid(found[1])) return null;
  return { id: found[1], secret: found[2] };
}

export function composeApplicationToken(kind: 'secret' | 'publishable', id: string, secret: string): string {
  return `${kind === 'secret' ? 'sec' : 'pub'}_${id}.${secret}`;
}
