import { exportJWK, generateKeyPair, importJWK, type CryptoKey, type JWK } from 'jose';
import type { RowChanges } from '../platform/database/row-changes.ts';
import type { Sql } from '../platform/database/database.ts';
import { newId, type AccountId } from '../platform/ids.ts';

export const algorithm = 'EdDSA';
/** A retired key is kept until the longest-lived token it may have signed, a visitor's, has expired. */
const retiredKeySeconds = 25 * 3600;

/**
 * The keys that sign tokens. The newest key signs, all keys verify. They are in the database, so that all processes have the
 * same keys. When a key changes, the cached keys are dropped.
 */
export class Keyring {
  readonly #sql: Sql;
  readonly #changes: RowChanges;
  #keys: Promise<LoadedKeys> | null = null;
  #epoch: object = {};

  constructor(sql: Sql, changes: RowChanges) {
    this.#sql = sql;
    this.#changes = changes;
    const forget = (): void => {
      this.#keys = null;
      this.#epoch = {};
    };
    changes.on('signing_keys', forget);
    changes.onReset(forget);
  }

  /** A new object whenever the keys may have changed. A token that was verified in another epoch must be verified again. */
  get epoch(): object {
    return this.#epoch;
  }

  async signer(): Promise<{ id: string; key: CryptoKey }> {
    const { newest } = await this.#load();
    if (newest === undefined) throw new Error('there is no signing key');
    return newest;
  }

  async verifier(id: string): Promise<Verifier | undefined> {
    const { verifiers } = await this.#load();
    return verifiers.get(id);
  }

  /** Caches the keys until they change. While change notifications are down, only concurrent callers share one read. */
  async #load(): Promise<LoadedKeys> {
    if (this.#keys !== null) return this.#keys;
    const reading = loadKeys(this.#sql);
    this.#keys = reading;
    const forget = (): void => {
      if (this.#keys === reading) this.#keys = null;
    };
    reading.then(() => this.#changes.live || forget(), forget);
    return reading;
  }
}

interface Verifier {
  readonly key: CryptoKey;
  /** The accounts whose tokens the key verifies: those that came from the installation of the key. `null`: our own key, for all accounts. */
  readonly accountIds: ReadonlySet<AccountId> | null;
}

interface LoadedKeys {
  readonly newest: { id: string; key: CryptoKey } | undefined;
  readonly verifiers: ReadonlyMap<string, Verifier>;
}

async function loadKeys(sql: Sql): Promise<LoadedKeys> {
  const rows = await sql<{ id: string; private_jwk: JWK }[]>`
    SELECT id, private_jwk
      FROM signing_keys
     WHERE retired_at IS NULL OR retired_at > now() - make_interval(secs => ${retiredKeySeconds})
     ORDER BY retired_at IS NULL DESC, created_at DESC`;
  const imported = await sql<{ id: string; jwk: JWK; accounts: AccountId[] }[]>`
    SELECT id, (array_agg(public_jwk))[1] AS jwk, array_agg(account_id) AS accounts
      FROM imported_signing_keys
     WHERE imported_at > now() - make_interval(secs => ${retiredKeySeconds})
     GROUP BY id`;
  const verifiers = new Map<string, Verifier>();
  for (const { id, jwk, accounts } of imported)
    verifiers.set(id, { key: await toKey(publicPart(jwk)), accountIds: new Set(accounts) });
  // Our own keys come last: nobody can import a key in place of one.
  for (const { id, private_jwk } of rows)
    verifiers.set(id, { key: await toKey(publicPart(private_jwk)), accountIds: null });
  const [first] = rows;
  return { newest: first && { id: first.id, key: await toKey(first.private_jwk) }, verifiers };
}

async function toKey(jwk: JWK): Promise<CryptoKey> {
  const key = await importJWK(jwk, algorithm);
  if (key instanceof Uint8Array) throw new Error('a signing key is not an Ed25519 key');
  return key;
}

export function publicPart({ kty, crv, x }: JWK): JWK {
  return { kty, crv, x } as JWK;
}

/** Creates the first key if there is none. */
export async function ensureSigningKey(sql: Sql): Promise<void> {
  const [present] = await sql`SELECT 1 FROM signing_keys WHERE retired_at IS NULL LIMIT 1`;
  if (present === undefined) await addSigningKey(sql);
}

/** Adds a new signing key. `keep`: tokens signed with the old keys stay valid; `revoke`: they become invalid at once. */
export async function rotateSigningKey(sql: Sql, old: 'keep' | 'revoke'): Promise<string> {
  if (old === 'revoke') {
    await sql`DELETE FROM signing_keys`;
    await sql`DELETE FROM imported_signing_keys`;
  } else await sql`UPDATE signing_keys SET retired_at = now() WHERE retired_at IS NULL`;
  return addSigningKey(sql);
}

async function addSigningKey(sql: Sql): Promise<string> {
  const { privateKey } = await generateKeyPair(algorithm, { crv: 'Ed25519', extractable: true });
  const id = newId<string>();
  await sql`INSERT INTO signing_keys (id, private_jwk) VALUES (${id}, ${sql.json({ ...(await exportJWK(privateKey)) })})`;
  return id;
}

/** Deletes retired and imported keys once every token they signed has expired. */
export async function dropRetiredKeys(sql: Sql, now: Date): Promise<void> {
  const before = sql`${now}::timestamptz - make_interval(secs => ${retiredKeySeconds})`;
  await sql`DELETE FROM signing_keys WHERE retired_at < ${before}`;
  await sql`DELETE FROM imported_signing_keys WHERE imported_at < ${before}`;
}
