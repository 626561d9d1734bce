/** Milliseconds since 1970, with fractions: what several processes of one machine can compare. */
export function wallMs(): number {
  return performance.timeOrigin + performance.now();
}

/** The value that this share of them does not exceed. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Infinity;
}
