import { createHash, createPublicKey } from 'node:crypto';
import { SignJWT } from 'jose';
import type { Config } from '../../../config.ts';
import type { Sealer } from '../../../identity/sealer.ts';
import { inTransaction, type Sql } from '../../../platform/database.ts';

export type ApnsSettings = NonNullable<Config['apns']>;

/** Apple refuses a token that is older than 60 minutes, and one that follows the last within 20. */
const reusedForMs = 45 * 60_000;
const changedAfterMs = 20 * 60_000;

export interface ProviderToken {
  readonly jwt: string;
  readonly version: number;
}

interface Held extends ProviderToken {
  /** By the monotonic clock of this process. */
  readonly until: number;
}

interface Row {
  readonly version: number;
  readonly token: Buffer | null;
  /** Below zero if the database's clock was put back since. */
  readonly ageMs: number | null;
  readonly nowSec: number;
}

/**
 * What we show Apple: one token for all processes, made anew every 45 minutes by whichever needs it first. Ages are
 * measured and tokens dated by the database's clock, so that processes whose clocks differ agree.
 */
export class ProviderTokens {
  readonly #settings: ApnsSettings;
  readonly #sql: Sql;
  readonly #sealer: Sealer;
  readonly #digest: Buffer;
  #held: Held | null = null;
  #fetching: Promise<Held> | null = null;
  #renewing: { readonly refused: number; readonly token: Promise<Held | null> } | null = null;

  constructor(settings: ApnsSettings, sql: Sql, sealer: Sealer) {
    this.#settings = settings;
    this.#sql = sql;
    this.#sealer = sealer;
    const spki = createPublicKey(settings.key).export({ type: 'spki', format: 'der' });
    this.#digest = createHash('sha256').update(spki).digest();
  }

  async current(): Promise<ProviderToken> {
    if (this.#held !== null && performance.now() < this.#held.until) return this.#held;
    this.#fetching ??= this.#fetch().finally(() => (this.#fetching = null));
    return this.#fetching;
  }

  /**
   * One to follow a token that Apple says has expired: whoever comes first makes it. `null`: it is too young to be followed.
   * That it has expired all the same means that the database's clock is wrong, and another would be no better.
   */
  async renew(refused: ProviderToken): Promise<ProviderToken | null> {
    if (this.#held !== null && this.#held.version > refused.version) return this.#held;
    if (this.#renewing?.refused !== refused.version) {
      const mustBeMade = (row: Row) => !isFresh(row) || (row.version === refused.version && !isYoung(row));
      const renewing = { refused: refused.version, token: this.#make(mustBeMade) };
      this.#renewing = renewing;
      const forget = (): void => {
        if (this.#renewing === renewing) this.#renewing = null;
      };
      renewing.token.then(forget, forget);
    }
    const made = await this.#renewing.token;
    return made === null || made.version <= refused.version ? null : made;
  }

  async #fetch(): Promise<Held> {
    const sql = this.#sql;
    const { teamId, keyId } = this.#settings;
    const [row] = await sql<Row[]>`
      SELECT ${columns(sql)}
        FROM apns_tokens
       WHERE team_id = ${teamId} AND key_id = ${keyId} AND key_digest = ${this.#digest}`;
    const read = row === undefined || !isFresh(row) ? null : await this.#open(row);
    const held = read ?? (await this.#make((found) => !isFresh(found)));
    if (held === null) throw new Error('a token was neither read nor made');
    return held;
  }

  /** Makes one if it `mustBeMade` once the row is ours, or takes what another process has made in the meantime. */
  async #make(mustBeMade: (row: Row) => boolean): Promise<Held | null> {
    const { teamId, keyId } = this.#settings;
    const seal = await this.#sealer.seal();
    const row = await inTransaction(this.#sql, async (sql) => {
      await sql`
        INSERT INTO apns_tokens (team_id, key_id, key_digest)
        VALUES (${teamId}, ${keyId}, ${this.#digest})
        ON CONFLICT DO NOTHING`;
      const [found] = await sql<Row[]>`
        SELECT ${columns(sql)}
          FROM apns_tokens
         WHERE team_id = ${teamId} AND key_id = ${keyId} AND key_digest = ${this.#digest}
           FOR UPDATE`;
      if (found === undefined) throw new Error('the row of a token is gone');
      if (!mustBeMade(found)) return found;
      const token = seal(await this.#sign(found.nowSec), this.#purpose);
      const version = found.version + 1;
      await sql`
        UPDATE apns_tokens
           SET version = ${version}, token = ${token}, made_at = to_timestamp(${found.nowSec})
         WHERE team_id = ${teamId} AND key_id = ${keyId} AND key_digest = ${this.#digest}`;
      return { version, token, ageMs: 0, nowSec: found.nowSec };
    });
    return this.#open(row);
  }

  async #open({ version, token, ageMs }: Row): Promise<Held | null> {
    if (token === null || ageMs === null) return null;
    const jwt = await this.#sealer.open(token, this.#purpose);
    if (this.#held === null || version >= this.#held.version)
      this.#held = { jwt, version, until: performance.now() + reusedForMs - ageMs };
    return this.#held;
  }

  async #sign(nowSec: number): Promise<string> {
    const { key, keyId, teamId } = this.#settings;
    return new SignJWT()
      .setProtectedHeader({ alg: 'ES256', kid: keyId })
      .setIssuer(teamId)
      .setIssuedAt(nowSec)
      .sign(key);
  }

  get #purpose(): string {
    return `apns token of ${this.#settings.teamId} ${this.#settings.keyId}`;
  }
}

function columns(sql: Sql) {
  return sql`version, token,
             (extract(epoch FROM clock_timestamp() - made_at) * 1000)::float8 AS "ageMs",
             floor(extract(epoch FROM clock_timestamp()))::float8 AS "nowSec"`;
}

function isFresh({ ageMs }: Row): boolean {
  return ageMs !== null && ageMs >= 0 && ageMs < reusedForMs;
}

function isYoung({ ageMs }: Row): boolean {
  return ageMs !== null && ageMs >= 0 && ageMs < changedAfterMs;
}
