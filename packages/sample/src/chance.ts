/**
 * A deterministic pseudo-random number from 0 to 1 (exclusive), derived from the seed and the arguments. It is the same after a
 * restart and in another process.
 */
export function chance(seed: number, ...about: readonly (string | number)[]): number {
  // FNV-1a with the finalizer of MurmurHash3; without the finalizer, similar texts would give similar numbers.
  let hash = (0x811c9dc5 ^ seed) >>> 0;
  for (const character of about.join(':')) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193) >>> 0;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b) >>> 0;
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35) >>> 0;
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32;
}

/** Picks an element by a number from 0 to 1. */
export function pick<T>(from: readonly [T, ...T[]], at: number): T {
  return from[Math.floor(at * from.length)] ?? from[0];
}

/** A Poisson-distributed count with the given mean, for a number from 0 to 1. */
export function poisson(mean: number, at: number): number {
  let count = 0;
  let term = Math.exp(-mean);
  let below = term;
  while (at >= below && count < maxCount) {
    count += 1;
    term *= mean / count;
    below += term;
  }
  return count;
}

const maxCount = 20;
