/** A value of the run at each sample. */
export interface Series {
  readonly name: string;
  /** In the order of time, evenly spaced. */
  readonly values: readonly number[];
  /** How far the last quarter may be above the second one: the noise of a value that is bounded. */
  readonly margin: (second: number) => number;
  /** What is compared: the usual value of a quarter, or the least one for what is freed only now and then. */
  readonly by: 'median' | 'least';
}

export interface Growth {
  readonly name: string;
  readonly quarters: readonly number[];
  readonly allowed: number;
  readonly isBounded: boolean;
}

const quarterCount = 4;

/** The value of each quarter. */
function byQuarter(values: readonly number[], by: Series['by']): number[] {
  return Array.from({ length: quarterCount }, (_, quarter) => {
    const at = (each: number): number => Math.floor((each * values.length) / quarterCount);
    const sorted = values.slice(at(quarter), at(quarter + 1)).toSorted((a, b) => a - b);
    return (by === 'least' ? sorted[0] : sorted[Math.floor(sorted.length / 2)]) ?? Number.NaN;
  });
}

/**
 * A value is bounded if the last quarter of the run is not above the second one by more than the margin. In the first quarter caches fill
 * and connections open. A leak that grows with the work is twice as large in the last quarter as in the second.
 */
export function measureGrowth({ name, values, margin, by }: Series): Growth {
  const quarters = byQuarter(values, by);
  const [, second = Number.NaN, , last = Number.NaN] = quarters;
  const allowed = second + margin(second);
  return { name, quarters, allowed, isBounded: last <= allowed };
}
