import { randomBytes, scrypt, timingSafeEqual, type ScryptOptions } from 'node:crypto';
import { promisify } from 'node:util';

const derive = promisify<string, Buffer, number, ScryptOptions, Buffer>(scrypt);

/**
 * About 20 ms and 8 MiB a check. Secrets we make have 256 bits of their own and would need no more than a plain hash; the
 * first key's may have been thought up by a person.
 */
const cost = { N: 2 ** 13, r: 8, p: 1 };
const keyBytes = 32;

/** A new secret; the prefix lets scanners of leaked code tell what it is. */
export function newSecret(prefix: string): string {
  return `${prefix}_${randomBytes(32).toString('base64url')}`;
}

export async function hashSecret(secret: string): Promise<string> {
  const salt = randomBytes(16);
  const key = await derive(secret, salt, keyBytes, cost);
  return ['scrypt', cost.N, cost.r, cost.p, salt.toString('base64url'), key.toString('base64url')].join('$');
}

export async function verifySecret(secret: string, hash: string): Promise<boolean> {
  const [scheme, N, r, p, salt, key] = hash.split('$');
  if (scheme !== 'scrypt' || salt === undefined || key === undefined)
    throw new Error('a stored secret hash is malformed');
  const expected = Buffer.from(key, 'base64url');
  const options = { N: Number(N), r: Number(r), p: Number(p) };
  const found = await derive(secret, Buffer.from(salt, 'base64url'), expected.length, options);
  return timingSafeEqual(found, expected);
}

/** A hash nothing matches: checked for an unknown id, so that its answer takes as long as that of a known one. */
const matchesNothing = hashSecret(newSecret('none'));

export async function verifyAgainstNothing(secret: string): Promise<false> {
  await verifySecret(secret, await matchesNothing);
  return false;
}
