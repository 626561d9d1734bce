import { createHash, randomBytes, scrypt, timingSafeEqual, type ScryptOptions } from 'node:crypto';
import { promisify } from 'node:util';

const derive = promisify<string, Buffer, number, ScryptOptions, Buffer>(scrypt);

interface Cost {
  readonly N: number;
  readonly r: number;
  readonly p: number;
}

/** The costs of new hashes. Tests lower them: at these costs, hashing took half of their processor time. */
export const hashCosts: { secret: Cost; password: Cost } = {
  /**
   * About 20 ms and 8 MiB per check. For generated secrets of 256 bits a plain hash would be enough, but the secret of the first
   * key may have been chosen by a person.
   */
  secret: { N: 2 ** 13, r: 8, p: 1 },
  /**
   * For passwords, which are easier to guess: about 250 ms and 32 MiB per check. OWASP lists it as equivalent to N = 2^17, p = 1,
   * and it needs less memory, which suits small machines.
   */
  password: { N: 2 ** 15, r: 8, p: 3 },
};

const saltBytes = 16;
const keyBytes = 32;

/** A new secret. The prefix lets secret scanners recognise it in leaked code. */
export function newSecret(prefix: string): string {
  return `${prefix}_${randomBytes(32).toString('base64url')}`;
}

/** A new secret without a prefix, for a cookie or as part of a longer token. */
export function newRandomSecret(): string {
  return randomBytes(32).toString('base64url');
}

/** The hash under which a random secret is stored and looked up. 256 random bits cannot be guessed, so it may be fast. */
export function digestOf(secret: string): Buffer {
  return createHash('sha256').update(secret).digest();
}

export async function hashSecret(secret: string, cost = hashCosts.secret): Promise<string> {
  const salt = randomBytes(saltBytes);
  return encodeHash(cost, salt, await derive(secret, salt, keyBytes, scryptOptions(cost)));
}

function encodeHash({ N, r, p }: Cost, salt: Buffer, key: Buffer): string {
  return ['scrypt', N, r, p, salt.toString('base64url'), key.toString('base64url')].join('$');
}

/** Node refuses to use more memory than `maxmem`. Twice the nominal need of scrypt is always enough. */
function scryptOptions(cost: Cost): ScryptOptions {
  return { ...cost, maxmem: 2 * 128 * cost.N * cost.r };
}

export async function verifySecret(secret: string, hash: string): Promise<boolean> {
  const [scheme, N, r, p, salt, key] = hash.split('$');
  if (scheme !== 'scrypt' || salt === undefined || key === undefined)
    throw new Error('a stored secret hash is malformed');
  const expected = Buffer.from(key, 'base64url');
  const cost = { N: Number(N), r: Number(r), p: Number(p) };
  const found = await derive(secret, Buffer.from(salt, 'base64url'), expected.length, scryptOptions(cost));
  return timingSafeEqual(found, expected);
}

/** Checks against a random hash, so that an unknown id takes as long to refuse as a wrong secret. */
export async function verifyAgainstRandomHash(secret: string, cost = hashCosts.secret): Promise<false> {
  await verifySecret(secret, encodeHash(cost, randomBytes(saltBytes), randomBytes(keyBytes)));
  return false;
}
