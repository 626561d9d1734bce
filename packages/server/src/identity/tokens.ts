import { errors as joseErrors, jwtVerify, SignJWT, type JWTPayload } from 'jose';
import type { AccountId, OperatorId, SiteId, VisitorId } from '../platform/ids.ts';
import { newId } from '../platform/ids.ts';
import type { Trust } from './caller.ts';
import { algorithm, type Keyring } from './signing-keys.ts';

export const operatorTokenSeconds = 3_600;
export const visitorTokenSeconds = 24 * 3_600;

const issuer = 'usher';

/** The claims of a token. Roles are not among them: they are looked up at each request, so that a change takes effect at once. */
export interface Claims {
  readonly sub: string;
  readonly jti: string;
  readonly exp: number;
  readonly account: string;
  readonly kind: 'operator' | 'visitor';
  /** The API key that an operator's token was obtained with. Deleting the key revokes the token. */
  readonly key?: string;
  /** The session that an operator's token was obtained with. Ending the session revokes the token. */
  readonly session?: string;
  /** The sites that an operator's token is limited to. */
  readonly sites?: readonly string[];
  /** Set for the simulated operators of sample data, whose requests Usher sends itself. */
  readonly made_up?: true;
  /** Set for a visitor whose token came from the customer's own servers. Absent if it was obtained with a publishable token. */
  readonly trust?: 'secret';
}

interface VisitorTokenSubject {
  readonly accountId: AccountId;
  readonly visitorId: VisitorId;
  readonly trust: Trust;
}

/** The signature proves that Usher wrote the payload, but a later version may have written other claims. */
function isClaims(payload: JWTPayload): payload is JWTPayload & Claims {
  const { sub, jti, exp, account, kind } = payload;
  const named = typeof sub === 'string' && typeof jti === 'string' && typeof account === 'string';
  return named && typeof exp === 'number' && (kind === 'operator' || kind === 'visitor');
}

export class Tokens {
  readonly #keyring: Keyring;
  readonly #now: () => number;

  /** `now` must be steady and the same in all processes: a clock that jumps would expire every token at once. */
  constructor(keyring: Keyring, now: () => number = Date.now) {
    this.#keyring = keyring;
    this.#now = now;
  }

  /** Epoch milliseconds by the clock that dates the tokens. */
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
    const trustClaim = trust === 'secret' ? { trust } : {};
    return this.#sign(visitorId, visitorTokenSeconds, { account: accountId, kind: 'visitor', ...trustClaim });
  }

  /** See `Keyring.epoch`. */
  get epoch(): object {
    return this.#keyring.epoch;
  }

  /** The claims of a genuine, unexpired token; `null` for any other text. */
  async verify(token: string): Promise<Claims | null> {
    try {
      const { payload, protectedHeader } = await jwtVerify(
        token,
        async ({ kid = '' }) => (await this.#verifier(kid)).key,
        {
          algorithms: [algorithm],
          issuer,
          currentDate: new Date(this.#now()),
        },
      );
      return isClaims(payload) && (await this.#mayVouchFor(protectedHeader.kid, payload)) ? payload : null;
    } catch (error) {
      if (error instanceof joseErrors.JOSEError) return null;
      throw error;
    }
  }

  async #verifier(id: string) {
    const verifier = await this.#keyring.verifier(id);
    if (verifier === undefined) throw new joseErrors.JWSSignatureVerificationFailed('unknown key');
    return verifier;
  }

  /** The installation that an account came from may vouch for callers of that account only. */
  async #mayVouchFor(keyId: string | undefined, { account }: Claims): Promise<boolean> {
    const { accountIds } = await this.#verifier(keyId ?? '');
    return accountIds?.has(account as AccountId) ?? true;
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
