/**
 * What looks like chance and is not: a number from 0 up to 1 that follows from the seed and from what it is about. Whoever asks
 * again, after a restart or in another process, gets the same.
 */
export function chance(seed: number, ...about: readonly (string | number)[]): number {
  // FNV-1a, and the finish of MurmurHash3, without which similar texts give similar numbers.
  let hash = (0x811c9dc5 ^ seed) >>> 0;
  for (const character of about.join(':')) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193) >>> 0;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b) >>> 0;
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35) >>> 0;
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32;
}

/** One of them. */
export function pick<T>(from: readonly [T, ...T[]], at: number): T {
  return from[Math.floor(at * from.length)] ?? from[0];
}

/** How many come when `mean` are expected (Poisson), for a chance from 0 up to 1. */
export function poisson(mean: number, at: number): number {
  let count = 0;
  let term = Math.exp(-mean);
  let below = term;
  while (at >= below && count < mostAtOnce) {
    count += 1;
    term *= mean / count;
    below += term;
  }
  return count;
}

const mostAtOnce = 20;
