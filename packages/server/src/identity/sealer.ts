import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import type { Sql } from '../platform/database.ts';
import { newId } from '../platform/ids.ts';

const keyBytes = 32;
/** A sealed text is the id of its key, a nonce, a tag, and the cipher text. */
const idBytes = 16;
const nonceBytes = 12;
const tagBytes = 16;

/** Seals a text for a purpose, such as `client secret of <id>`: it opens for no other, wherever it is copied to. */
export type Seal = (text: string, purpose: string) => Buffer;

/**
 * Seals what we must be able to read again (AES-256-GCM). The keys live in the database beside those that sign tokens, so
 * that every process can: this keeps secrets out of the tables that are read, exported and logged, not from somebody who
 * has the whole database. The first key is made when it is needed; all of them open, the newest seals.
 */
export class Sealer {
  readonly #sql: Sql;
  #keys: Promise<readonly SealingKey[]> | null = null;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** Fetches the key, if it must; sealing itself waits for nothing, and may be done in a transaction. */
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

  /** Another process has made a key since. */
  async #reload(id: Buffer): Promise<SealingKey> {
    this.#keys = null;
    const key = (await this.#load()).find((each) => idOf(each).equals(id));
    if (key === undefined) throw new Error('something was sealed with a key that is not there');
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
  // Two processes may both make one; both are good.
  await sql`INSERT INTO sealing_keys (id, key) VALUES (${newId<string>()}, ${randomBytes(keyBytes)})`;
  return select();
}

function idOf({ id }: SealingKey): Buffer {
  return Buffer.from(id.replaceAll('-', ''), 'hex');
}

/** A key of its own for each purpose: so neither can a sealed text be put elsewhere, nor do random nonces run out. */
function keyFor({ key }: SealingKey, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', key, '', `usher sealed: ${purpose}`, keyBytes));
}
