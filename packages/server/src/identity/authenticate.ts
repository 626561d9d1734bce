import { createHash, timingSafeEqual } from 'node:crypto';
import { Refusal } from '../platform/errors.ts';
import type { AccountId, OperatorId, SiteId, VisitorId } from '../platform/ids.ts';
import { isUuid } from '../platform/ids.ts';
import type { Caller, Role } from './caller.ts';
import type { Directory } from './directory.ts';
import { verifySecret } from './secrets.ts';
import type { Claims, Tokens } from './tokens.ts';

function unauthenticated(detail: string): Refusal {
  return new Refusal('unauthenticated', detail, { headers: { 'www-authenticate': 'Bearer' } });
}

const expired = 'The token is not valid, or no longer. Obtain a new one.';

/** Tells from the Authorization header who calls. Answers at once when everything is known already, as it mostly is. */
export class Authenticator {
  readonly #tokens: Tokens;
  readonly #directory: Directory;

  constructor(tokens: Tokens, directory: Directory) {
    this.#tokens = tokens;
    this.#directory = directory;
  }

  authenticate(header: string | undefined): Caller | Promise<Caller> {
    if (header === undefined) throw unauthenticated('This needs a token: send it as "Authorization: Bearer <token>".');
    const { scheme, token } = splitHeader(header);
    if (scheme === 'bearer') return this.#recallBearer(token) ?? this.#bearer(token);
    if (scheme === 'applicationtoken') return this.#application(token);
    throw unauthenticated('The Authorization header must be "Bearer <token>" or "ApplicationToken <token>".');
  }

  #recallBearer(token: string): Caller | undefined {
    const claims = this.#tokens.recall(token);
    if (claims === undefined || this.#directory.revokedTokens.peek(claims.jti) !== false) return undefined;
    if (claims.kind === 'operator') {
      const operator = this.#directory.operators.peek(claims.sub);
      return operator ? operatorCaller(claims, operator) : undefined;
    }
    const visitor = this.#directory.visitors.peek(claims.sub);
    return visitor ? visitorCaller(claims, visitor) : undefined;
  }

  async #bearer(token: string): Promise<Caller> {
    const claims = await this.#tokens.verify(token);
    if (claims === null || (await this.#directory.revokedTokens.get(claims.jti))) throw unauthenticated(expired);
    if (claims.kind === 'operator') {
      const operator = await this.#directory.operators.get(claims.sub);
      if (operator === null) throw unauthenticated(expired);
      return operatorCaller(claims, operator);
    }
    const visitor = await this.#directory.visitors.get(claims.sub);
    if (visitor === null) throw unauthenticated(expired);
    return visitorCaller(claims, visitor);
  }

  async #application(token: string): Promise<Caller> {
    const parts = parseApplicationToken(token);
    const known = parts === null ? null : await this.#directory.applicationTokens.get(parts.id);
    if (parts === null || known === null) throw unauthenticated('The application token is not valid.');
    const digest = createHash('sha256').update(parts.secret).digest();
    const matches =
      known.proven === null
        ? await verifySecret(parts.secret, known.secretHash)
        : timingSafeEqual(known.proven, digest);
    if (!matches) throw unauthenticated('The application token is not valid.');
    known.proven = digest;
    return {
      kind: 'application',
      accountId: known.accountId,
      applicationTokenId: known.id,
      siteId: known.siteId,
      trust: known.kind,
    };
  }
}

function splitHeader(header: string): { scheme: string; token: string } {
  const space = header.indexOf(' ');
  return { scheme: header.slice(0, Math.max(space, 0)).toLowerCase(), token: header.slice(space + 1).trim() };
}

interface OperatorEntry {
  readonly enabled: boolean;
  readonly roles: ReadonlyMap<SiteId, Role>;
  readonly keyIds: ReadonlySet<string>;
}

function operatorCaller(claims: Claims, operator: OperatorEntry): Caller {
  if (!operator.enabled || !operator.keyIds.has(claims.key ?? '')) throw unauthenticated(expired);
  const { sites } = claims;
  return {
    kind: 'operator',
    accountId: claims.account as AccountId,
    operatorId: claims.sub as OperatorId,
    roles: sites === undefined ? operator.roles : new Map([...operator.roles].filter(([site]) => sites.includes(site))),
    tokenId: claims.jti,
    expiresAt: new Date(claims.exp * 1000),
  };
}

function visitorCaller(claims: Claims, visitor: { readonly siteId: SiteId }): Caller {
  return {
    kind: 'visitor',
    accountId: claims.account as AccountId,
    visitorId: claims.sub as VisitorId,
    siteId: visitor.siteId,
  };
}

/** Application tokens read `<prefix>_<id>.<secret>`. */
function parseApplicationToken(token: string): { id: string; secret: string } | null {
  const found = /^(?:pub|sec)_([\da-f-]{36})\.([\w-]{20,100})$/.exec(token);
  if (found?.[1] === undefined || found[2] === undefined || !isUuid(found[1])) return null;
  return { id: found[1], secret: found[2] };
}

export function composeApplicationToken(kind: 'secret' | 'publishable', id: string, secret: string): string {
  return `${kind === 'secret' ? 'sec' : 'pub'}_${id}.${secret}`;
}
