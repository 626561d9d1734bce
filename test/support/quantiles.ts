function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.ceil(share * sorted.length) - 1] ?? 0;
}

/** The median of the rounds, because a pause of the machine spoils one of them. */
export function typical(perRound: readonly (readonly number[])[], share: number): number {
  return quantile(
    perRound.map((round) => quantile(round, share)),
    0.5,
  );
}
