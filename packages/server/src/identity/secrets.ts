import { createHash, randomBytes, scrypt, timingSafeEqual, type ScryptOptions } from 'node:crypto';
import { promisify } from 'node:util';

const derive = promisify<string, Buffer, number, ScryptOptions, Buffer>(scrypt);

/**
 * About 20 ms and 8 MiB a check. Secrets we make have 256 bits of their own and would need no more than a plain hash; the
 * first key's may have been thought up by a person.
 */
const secretCost = { N: 2 ** 13, r: 8, p: 1 };

/**
 * For what people think up, which is guessed sooner: about 250 ms and 32 MiB a check. OWASP holds it equal to N = 2^17, p = 1;
 * the memory is for a small machine to have.
 */
export const passwordCost = { N: 2 ** 15, r: 8, p: 3 };

type Cost = Readonly<typeof secretCost>;

const saltBytes = 16;
const keyBytes = 32;

/** A new secret; the prefix lets scanners of leaked code tell what it is. */
export function newSecret(prefix: string): string {
  return `${prefix}_${randomBytes(32).toString('base64url')}`;
}

/** A new secret without a prefix: for a cookie, which is told by its name, or as part of a longer text. */
export function newRandomSecret(): string {
  return randomBytes(32).toString('base64url');
}

/** What a secret of 256 random bits is stored and found by: there is nothing to guess, so a plain hash will do. */
export function digestOf(secret: string): Buffer {
  return createHash('sha256').update(secret).digest();
}

export async function hashSecret(secret: string, cost: Cost = secretCost): Promise<string> {
  const salt = randomBytes(saltBytes);
  return written(cost, salt, await derive(secret, salt, keyBytes, within(cost)));
}

function written({ N, r, p }: Cost, salt: Buffer, key: Buffer): string {
  return ['scrypt', N, r, p, salt.toString('base64url'), key.toString('base64url')].join('$');
}

/** Node refuses what takes more memory than it is told; twice of what scrypt asks for is always enough. */
function within(cost: Cost): ScryptOptions {
  return { ...cost, maxmem: 2 * 128 * cost.N * cost.r };
}

export async function verifySecret(secret: string, hash: string): Promise<boolean> {
  const [scheme, N, r, p, salt, key] = hash.split('$');
  if (scheme !== 'scrypt' || salt === undefined || key === undefined)
    throw new Error('a stored secret hash is malformed');
  const expected = Buffer.from(key, 'base64url');
  const cost = { N: Number(N), r: Number(r), p: Number(p) };
  const found = await derive(secret, Buffer.from(salt, 'base64url'), expected.length, within(cost));
  return timingSafeEqual(found, expected);
}

/** Checks a hash that nothing matches: for an unknown id, so that its answer takes as long as that of a known one. */
export async function verifyAgainstNothing(secret: string, cost: Cost = secretCost): Promise<false> {
  await verifySecret(secret, written(cost, randomBytes(saltBytes), randomBytes(keyBytes)));
  return false;
}
