/** Milliseconds since 1970, with fractions: processes of one machine can compare these times. */
export function wallMs(): number {
  return performance.timeOrigin + performance.now();
}

/** The value that `share` (0 to 1) of the values do not exceed. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Infinity;
}
