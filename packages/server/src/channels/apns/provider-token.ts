import { createHash, createPublicKey } from 'node:crypto';
import { SignJWT } from 'jose';
import type { Config } from '../../config.ts';
import type { Sealer } from '../../identity/sealer.ts';
import { inTransaction, type Sql } from '../../platform/database/database.ts';

export type ApnsSettings = NonNullable<Config['apns']>;

/** Apple refuses a token older than 60 minutes, and a new token within 20 minutes of the last. */
const reuseMs = 45 * 60_000;
const minAgeToReplaceMs = 20 * 60_000;

export interface ProviderToken {
  readonly jwt: string;
  readonly version: number;
}

interface CachedToken extends ProviderToken {
  /** By the monotonic clock of this process. */
  readonly until: number;
}

interface Row {
  readonly version: number;
  readonly token: Buffer | null;
  /** Negative if the database's clock was set back since. */
  readonly ageMs: number | null;
  readonly nowSec: number;
}

/**
 * Our provider token for Apple: one for all processes, replaced every 45 minutes by the first process that needs it. Ages and
 * dates of tokens use the database's clock, so that processes with different clocks agree.
 */
export class ProviderTokens {
  readonly #settings: ApnsSettings;
  readonly #sql: Sql;
  readonly #sealer: Sealer;
  readonly #digest: Buffer;
  #cached: CachedToken | null = null;
  #fetching: Promise<CachedToken> | null = null;
  #renewing: { readonly refused: number; readonly token: Promise<CachedToken | null> } | null = null;

  constructor(settings: ApnsSettings, sql: Sql, sealer: Sealer) {
    this.#settings = settings;
    this.#sql = sql;
    this.#sealer = sealer;
    const spki = createPublicKey(settings.key).export({ type: 'spki', format: 'der' });
    this.#digest = createHash('sha256').update(spki).digest();
  }

  async current(): Promise<ProviderToken> {
    if (this.#cached !== null && performance.now() < this.#cached.until) return this.#cached;
    this.#fetching ??= this.#fetch().finally(() => (this.#fetching = null));
    return this.#fetching;
  }

  /**
   * Replaces a token that Apple calls expired; the first caller makes the new one. `null`: the token is too young to be replaced.
   * Then the database's clock is wrong, and a new token would be refused, too.
   */
  async renew(refused: ProviderToken): Promise<ProviderToken | null> {
    if (this.#cached !== null && this.#cached.version > refused.version) return this.#cached;
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

  async #fetch(): Promise<CachedToken> {
    const sql = this.#sql;
    const { teamId, keyId } = this.#settings;
    const [row] = await sql<Row[]>`
      SELECT ${columns(sql)}
        FROM apns_tokens
       WHERE team_id = ${teamId} AND key_id = ${keyId} AND key_digest = ${this.#digest}`;
    const read = row === undefined || !isFresh(row) ? null : await this.#open(row);
    const token = read ?? (await this.#make((found) => !isFresh(found)));
    if (token === null) throw new Error('the provider token was neither read nor made');
    return token;
  }

  /** Locks the row; makes a token if `mustBeMade`, else uses the one that another process has made meanwhile. */
  async #make(mustBeMade: (row: Row) => boolean): Promise<CachedToken | null> {
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
      if (found === undefined) throw new Error('the row of the provider token is gone');
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

  async #open({ version, token, ageMs }: Row): Promise<CachedToken | null> {
    if (token === null || ageMs === null) return null;
    const jwt = await this.#sealer.open(token, this.#purpose);
    if (this.#cached === null || version >= this.#cached.version)
      this.#cached = { jwt, version, until: performance.now() + reuseMs - ageMs };
    return this.#cached;
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
  return ageMs !== null && ageMs >= 0 && ageMs < reuseMs;
}

function isYoung({ ageMs }: Row): boolean {
  return ageMs !== null && ageMs >= 0 && ageMs < minAgeToReplaceMs;
}
