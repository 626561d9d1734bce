import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import type { Sql } from '../platform/database/database.ts';
import { newId } from '../platform/ids.ts';

const keyBytes = 32;
/** A sealed text is the id of its key, the nonce, the authentication tag and the ciphertext, in this order. */
const idBytes = 16;
const nonceBytes = 12;
const tagBytes = 16;

/** Encrypts a text for one purpose, such as `client secret of <id>`. It cannot be decrypted for any other purpose. */
export type Seal = (text: string, purpose: string) => Buffer;

/**
 * Encrypts secrets that Usher must read again (AES-256-GCM). The keys are in the database, next to the keys that sign tokens,
 * so that every process has them. This protects secrets in tables that are read, exported or logged; it does not protect them
 * from somebody who has the whole database. The first key is created on demand. The newest key seals, all keys open.
 */
export class Sealer {
  readonly #sql: Sql;
  #keys: Promise<readonly SealingKey[]> | null = null;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** Loads the key if necessary. The returned function is synchronous, so it can be used inside a transaction. */
  async seal(): Promise<Seal> {
    const [newest] = await this.#load();
    if (newest === undefined) throw new Error('there is no sealing key');
    return (text, purpose) => {
      const nonce = randomBytes(nonceBytes);
      const cipher = createCipheriv('aes-256-gcm', keyFor(newest, purpose), nonce);
      const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
      return Buffer.concat([idOf(newest), nonce, cipher.getAuthTag(), sealed]);
    };
  }

  async open(sealed: Buffer, purpose: string): Promise<string> {
    const id = sealed.subarray(0, idBytes);
    const key = (await this.#load()).find((each) => idOf(each).equals(id)) ?? (await this.#reload(id));
    const nonceEnd = idBytes + nonceBytes;
    const decipher = createDecipheriv('aes-256-gcm', keyFor(key, purpose), sealed.subarray(idBytes, nonceEnd), {
      authTagLength: tagBytes,
    });
    decipher.setAuthTag(sealed.subarray(nonceEnd, nonceEnd + tagBytes));
    const text = Buffer.concat([decipher.update(sealed.subarray(nonceEnd + tagBytes)), decipher.final()]);
    return text.toString('utf8');
  }

  /** Another process may have created a key since the last load. */
  async #reload(id: Buffer): Promise<SealingKey> {
    this.#keys = null;
    const key = (await this.#load()).find((each) => idOf(each).equals(id));
    if (key === undefined) throw new Error('the sealing key of a sealed text does not exist');
    return key;
  }

  async #load(): Promise<readonly SealingKey[]> {
    const loading = (this.#keys ??= loadKeys(this.#sql));
    loading.catch(() => {
      if (this.#keys === loading) this.#keys = null;
    });
    return loading;
  }
}

interface SealingKey {
  readonly id: string;
  readonly key: Buffer;
}

async function loadKeys(sql: Sql): Promise<readonly SealingKey[]> {
  const select = async () => sql<SealingKey[]>`SELECT id, key FROM sealing_keys ORDER BY created_at DESC, id`;
  const found = await select();
  if (found.length > 0) return found;
  // Two processes may each insert a key. Both keys are valid.
  await sql`INSERT INTO sealing_keys (id, key) VALUES (${newId<string>()}, ${randomBytes(keyBytes)})`;
  return select();
}

function idOf({ id }: SealingKey): Buffer {
  return Buffer.from(id.replaceAll('-', ''), 'hex');
}

/** Each purpose has its own key, so that a sealed text is useless elsewhere and random nonces do not repeat. */
function keyFor({ key }: SealingKey, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', key, '', `usher sealed: ${purpose}`, keyBytes));
}
