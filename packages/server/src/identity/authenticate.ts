import { timingSafeEqual } from 'node:crypto';
import { BoundedMap } from '../platform/bounded-map.ts';
import { Refusal } from '../platform/errors.ts';
import type { AccountId, OperatorId, SiteId, VisitorId } from '../platform/ids.ts';
import { isUuid } from '../platform/ids.ts';
import { isAccessToken, parseAccessToken } from './access-tokens/access-token.ts';
import type { KnownAccessToken } from './access-tokens/store.ts';
import type { Caller } from './caller.ts';
import type { Directory } from './directory.ts';
import type { KnownOperator } from './directory-store.ts';
import { digestOf, verifySecret } from './secrets.ts';
import type { Claims, Tokens } from './tokens.ts';

function unauthenticated(detail: string): Refusal {
  return new Refusal('unauthenticated', detail, { headers: { 'www-authenticate': 'Bearer' } });
}

const expired = 'The token is not valid, or no longer. Obtain a new one.';

interface KnownCaller {
  readonly caller: Caller;
  /** The caller's entry in the directory, under `subject`. */
  readonly entry: object;
  readonly subject: string;
  readonly proof: Proof;
}

/** What a caller was believed by. The caller stays known for as long as that holds. */
type Proof =
  | {
      readonly kind: 'signed';
      /** Of the keys that the signature was verified with. */
      readonly epoch: object;
      readonly tokenId: string;
      readonly expiresAt: number;
    }
  | { readonly kind: 'long-lived'; readonly token: KnownAccessToken };

interface LongLivedParts {
  /** Epoch milliseconds by the database's clock: people say by it until when a token works. */
  readonly now: () => number;
  /** Called whenever the token is used. */
  readonly onUse: (id: string) => void;
}

/** Callers are remembered by their header, so it must not be one that somebody has blown up. */
const longestHeader = 4_096;
/** So many are remembered, so that a signature is checked once a token and process. */
const mostKnown = 20_000;

/** Tells from the Authorization header who calls. Answers at once when everything is known already, as it mostly is. */
export class Authenticator {
  readonly #tokens: Tokens;
  readonly #directory: Directory;
  /** Callers by the header they sent, each with what it was made of. */
  readonly #known = new BoundedMap<string, KnownCaller>(mostKnown);

  /** Sessions that were looked for and are no more. */
  readonly #ended = new BoundedMap<string, true>(mostKnown);

  /** Checks of application tokens' secrets that are under way. */
  readonly #checks = new Map<string, Promise<boolean>>();

  readonly #longLived: LongLivedParts;

  constructor(tokens: Tokens, directory: Directory, longLived: LongLivedParts) {
    this.#tokens = tokens;
    this.#directory = directory;
    this.#longLived = longLived;
  }

  authenticate(header: string | undefined): Caller | Promise<Caller> {
    if (header === undefined) throw unauthenticated('This needs a token: send it as "Authorization: Bearer <token>".');
    if (header.length > longestHeader) throw unauthenticated('The token is far longer than any of ours.');
    return this.#recall(header) ?? this.#inquire(header);
  }

  /** The same caller again, if nothing it was made of has changed: its entry in the directory, its token. */
  #recall(header: string): Caller | undefined {
    const known = this.#known.get(header);
    if (known === undefined || !this.#holds(known.proof)) return undefined;
    const { operators, visitors } = this.#directory;
    const entry = (known.caller.kind === 'operator' ? operators : visitors).peek(known.subject);
    if (entry !== known.entry) return undefined;
    if (known.proof.kind === 'long-lived') this.#longLived.onUse(known.proof.token.id);
    return known.caller;
  }

  #holds(proof: Proof): boolean {
    const { revokedTokens, accessTokens } = this.#directory;
    if (proof.kind === 'long-lived')
      return accessTokens.peek(proof.token.id) === proof.token && !this.#hasExpired(proof.token);
    const { epoch, expiresAt, tokenId } = proof;
    return epoch === this.#tokens.epoch && expiresAt > this.#tokens.now() && revokedTokens.peek(tokenId) === false;
  }

  #hasExpired({ expiresAt }: KnownAccessToken): boolean {
    return expiresAt !== null && expiresAt.getTime() <= this.#longLived.now();
  }

  async #inquire(header: string): Promise<Caller> {
    const { scheme, token } = splitHeader(header);
    if (scheme === 'applicationtoken') return this.#application(token);
    // Clients of this interface family also write "Token <token>".
    if (scheme !== 'bearer' && scheme !== 'token') {
      throw unauthenticated('The Authorization header must be "Bearer <token>" or "ApplicationToken <token>".');
    }
    const known = isAccessToken(token) ? await this.#accessToken(token) : await this.#signed(token);
    this.#known.set(header, known);
    return known.caller;
  }

  async #accessToken(text: string): Promise<KnownCaller> {
    const given = parseAccessToken(text);
    const token = given === null ? null : await this.#directory.accessTokens.get(given.id);
    if (given === null || token === null || !timingSafeEqual(token.digest, digestOf(given.secret)))
      throw unauthenticated(expired);
    if (this.#hasExpired(token)) throw unauthenticated(expired);
    const entry = await this.#directory.operators.get(token.operatorId);
    if (entry?.enabled !== true) throw unauthenticated(expired);
    this.#longLived.onUse(token.id);
    const caller = longLivedCaller(token, entry);
    return { caller, entry, subject: token.operatorId, proof: { kind: 'long-lived', token } };
  }

  async #signed(token: string): Promise<KnownCaller> {
    const { epoch } = this.#tokens;
    const claims = await this.#tokens.verify(token);
    if (claims === null || (await this.#directory.revokedTokens.get(claims.jti))) throw unauthenticated(expired);
    const { caller, entry } = await this.#bearer(claims);
    const proof = { kind: 'signed', epoch, tokenId: claims.jti, expiresAt: claims.exp * 1000 } as const;
    return { caller, entry, subject: claims.sub, proof };
  }

  async #bearer(claims: Claims): Promise<{ caller: Caller; entry: object }> {
    if (claims.kind === 'operator') {
      const entry = await this.#operator(claims);
      if (entry === null) throw unauthenticated(expired);
      return { caller: operatorCaller(claims, entry), entry };
    }
    const entry = await this.#directory.visitors.get(claims.sub);
    if (entry === null) throw unauthenticated(expired);
    return { caller: visitorCaller(claims, entry), entry };
  }

  /**
   * A session is used at once, and maybe here while another process has just begun it: what is held of its operator is not
   * the last word then.
   */
  async #operator({ sub, session }: Claims): Promise<KnownOperator | null> {
    const { operators } = this.#directory;
    const held = await operators.get(sub);
    if (session === undefined || held?.sessionIds.has(session) !== false || this.#ended.get(session) === true)
      return held;
    operators.drop(sub);
    const read = await operators.get(sub);
    // One that has ended does not come back: it need not be looked for again.
    if (read?.sessionIds.has(session) === false) this.#ended.set(session, true);
    return read;
  }

  async #application(token: string): Promise<Caller> {
    const parts = parseApplicationToken(token);
    const known = parts === null ? null : await this.#directory.applicationTokens.get(parts.id);
    if (parts === null || known === null) throw unauthenticated('The application token is not valid.');
    const digest = digestOf(parts.secret);
    const matches =
      known.proven === null
        ? await this.#checkSecret(parts, known.secretHash, digest)
        : timingSafeEqual(known.proven, digest);
    if (!matches) throw unauthenticated('The application token is not valid.');
    known.proven = digest;
    return {
      kind: 'application',
      key: `application:${known.id}`,
      accountId: known.accountId,
      applicationTokenId: known.id,
      siteId: known.siteId,
      trust: known.kind,
    };
  }

  /** Many requests that bring the same secret at once share one slow check. */
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

function operatorCaller(claims: Claims, operator: KnownOperator): Caller {
  const { sites, key = '', session } = claims;
  const isThere = session === undefined ? operator.keyIds.has(key) : operator.sessionIds.has(session);
  if (!operator.enabled || !isThere) throw unauthenticated(expired);
  return {
    kind: 'operator',
    key: `operator:${claims.sub}`,
    accountId: claims.account as AccountId,
    operatorId: claims.sub as OperatorId,
    isMadeUp: claims.made_up === true,
    limited: sites !== undefined,
    roles: sites === undefined ? operator.roles : new Map([...operator.roles].filter(([site]) => sites.includes(site))),
    keyId: session ?? key,
    token: { kind: 'signed', id: claims.jti, expiresAt: new Date(claims.exp * 1000) },
    sessionId: session ?? null,
  };
}

function longLivedCaller({ id, accountId, operatorId, expiresAt }: KnownAccessToken, operator: KnownOperator): Caller {
  return {
    kind: 'operator',
    key: `operator:${operatorId}`,
    accountId,
    operatorId,
    isMadeUp: false,
    limited: false,
    roles: operator.roles,
    keyId: id,
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

/** Application tokens read `<prefix>_<id>.<secret>`. */
function parseApplicationToken(token: string): ApplicationTokenText | null {
  const found = /^(?:pub|sec)_([\da-f-]{36})\.([\w-]{20,100})$/.exec(token);
  if (found?.[1] === undefined || found[2] === undefined || !isUuid(found[1])) return null;
  return { id: found[1], secret: found[2] };
}

export function composeApplicationToken(kind: 'secret' | 'publishable', id: string, secret: string): string {
  return `${kind === 'secret' ? 'sec' : 'pub'}_${id}.${secret}`;
}
