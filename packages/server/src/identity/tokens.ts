import { errors as joseErrors, jwtVerify, SignJWT, type JWTPayload } from 'jose';
import type { AccountId, OperatorId, SiteId, VisitorId } from '../platform/ids.ts';
import { newId } from '../platform/ids.ts';
import type { Trust } from './caller.ts';
import { algorithm, type Keyring } from './signing-keys.ts';

export const operatorTokenSeconds = 3_600;
export const visitorTokenSeconds = 24 * 3_600;

const issuer = 'usher';

/** What a token says. It names who; what they may do is looked up each time, so that a change of roles acts at once. */
export interface Claims {
  readonly sub: string;
  readonly jti: string;
  readonly exp: number;
  readonly account: string;
  readonly kind: 'operator' | 'visitor';
  /** The API key an operator's token was obtained with: deleting the key ends it. */
  readonly key?: string;
  /** Or the session it was obtained through, which it ends with. */
  readonly session?: string;
  /** The sites an operator's token was limited to. */
  readonly sites?: readonly string[];
  /** Of an operator: Usher made the operator up for sample data, and acts in this name itself. */
  readonly made_up?: true;
  /** Of a visitor: the customer's own servers vouch for the token. Left out: it was obtained with a publishable token. */
  readonly trust?: 'secret';
}

interface VisitorTokenSubject {
  readonly accountId: AccountId;
  readonly visitorId: VisitorId;
  readonly trust: Trust;
}

/** Whatever bears our signature we have written ourselves; a version of Usher to come may write it differently. */
function isClaims(payload: JWTPayload): payload is JWTPayload & Claims {
  const { sub, jti, exp, account, kind } = payload;
  const named = typeof sub === 'string' && typeof jti === 'string' && typeof account === 'string';
  return named && typeof exp === 'number' && (kind === 'operator' || kind === 'visitor');
}

export class Tokens {
  readonly #keyring: Keyring;
  readonly #now: () => number;

  /** `now`: a clock that all processes share and no step moves, or a wrong clock would end every token at once. */
  constructor(keyring: Keyring, now: () => number = Date.now) {
    this.#keyring = keyring;
    this.#now = now;
  }

  /** Epoch milliseconds, by the clock that tokens are dated by. */
  now(): number {
    return this.#now();
  }

  async signOperator(operator: {
    accountId: AccountId;
    operatorId: OperatorId;
    by: { readonly key: string } | { readonly session: string };
    seconds?: number;
    sites: readonly SiteId[] | null;
    isMadeUp?: true;
  }) {
    const sites = operator.sites === null ? {} : { sites: operator.sites };
    return this.#sign(operator.operatorId, operator.seconds ?? operatorTokenSeconds, {
      account: operator.accountId,
      kind: 'operator',
      ...operator.by,
      ...sites,
      ...(operator.isMadeUp === true ? { made_up: true } : {}),
    });
  }

  async signVisitor({ accountId, visitorId, trust }: VisitorTokenSubject): Promise<string> {
    const vouched = trust === 'secret' ? { trust } : {};
    return this.#sign(visitorId, visitorTokenSeconds, { account: accountId, kind: 'visitor', ...vouched });
  }

  /** See `Keyring.epoch`. */
  get epoch(): object {
    return this.#keyring.epoch;
  }

  /** What a genuine, unexpired token says; `null` for any other text. */
  async verify(token: string): Promise<Claims | null> {
    try {
      const { payload } = await jwtVerify(token, async ({ kid = '' }) => this.#verifier(kid), {
        algorithms: [algorithm],
        issuer,
        currentDate: new Date(this.#now()),
      });
      return isClaims(payload) ? payload : null;
    } catch (error) {
      if (error instanceof joseErrors.JOSEError) return null;
      throw error;
    }
  }

  async #verifier(id: string) {
    const key = await this.#keyring.verifier(id);
    if (key === undefined) throw new joseErrors.JWSSignatureVerificationFailed('unknown key');
    return key;
  }

  async #sign(subject: string, seconds: number, claims: Record<string, unknown>): Promise<string> {
    const { id, key } = await this.#keyring.signer();
    const now = Math.floor(this.#now() / 1000);
    return new SignJWT(claims)
      .setProtectedHeader({ alg: algorithm, kid: id })
      .setIssuer(issuer)
      .setSubject(subject)
      .setJti(newId())
      .setIssuedAt(now)
      .setExpirationTime(now + seconds)
      .sign(key);
  }
}
