import { createHmac } from 'node:crypto';
import type { Sql } from '../database/database.ts';
import { addressKey } from './rate-limit.ts';

/** 120 bits, so that no two addresses of one site share a hash. */
const hashCharacters = 20;

/**
 * Hashes the IP addresses of callers with a key that all processes share, for limits that are counted in the database. An address
 * is personal data: only its hash is stored, and only while it is counted. The key is in the database, so this keeps addresses
 * out of tables that are read and exported, but not from somebody who has the whole database.
 */
export class AddressHasher {
  readonly #key: Buffer;

  private constructor(key: Buffer) {
    this.#key = key;
  }

  static async load(sql: Sql): Promise<AddressHasher> {
    const [row] = await sql<{ key: Buffer }[]>`SELECT key FROM address_hash_key`;
    if (row === undefined) throw new Error('the key for hashing addresses is missing');
    return new AddressHasher(row.key);
  }

  /** All IPv6 addresses of a /64 have the same hash. */
  hash(address: string): string {
    return createHmac('sha256', this.#key).update(addressKey(address)).digest('base64url').slice(0, hashCharacters);
  }
}
