import { createHmac } from 'node:crypto';
import type { Sql } from './database.ts';
import { addressKey } from './rate-limit.ts';

/** 120 bits: no two addresses of one site share a hash. */
const hashCharacters = 20;

/**
 * Hashes the addresses of callers with a key that all processes share, for what must be counted across processes. An address is
 * personal data: only the hash is stored, and only while it is counted. The key is in the database, so this keeps addresses
 * out of tables that are read and exported, not from somebody who has the whole database.
 */
export class AddressHasher {
  readonly #key: Buffer;

  private constructor(key: Buffer) {
    this.#key = key;
  }

  static async load(sql: Sql): Promise<AddressHasher> {
    const [row] = await sql<{ key: Buffer }[]>`SELECT key FROM address_hash_key`;
    if (row === undefined) throw new Error('there is no key to hash addresses with');
    return new AddressHasher(row.key);
  }

  /** IPv6 addresses of one /64 have one hash. */
  hash(address: string): string {
    return createHmac('sha256', this.#key).update(addressKey(address)).digest('base64url').slice(0, hashCharacters);
  }
}
