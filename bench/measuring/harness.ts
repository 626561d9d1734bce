import type { Lab } from './lab.ts';

/** Compares Usher with a peer that does only the core of the same work. Both sides return a rate: higher is better. */
export interface Comparison {
  readonly name: string;
  readonly unit: string;
  readonly ours: () => Promise<number>;
  readonly peer: () => Promise<number>;
  /** The share of the peer's rate that Usher must reach. */
  readonly atLeast: number;
}

/** Compares Usher with a fixed limit: lower is better. */
export interface Limit {
  readonly name: string;
  readonly unit: string;
  readonly measure: () => Promise<number>;
  readonly atMost: number;
}

/** Compares Usher with several peers, all of which run in each round. There is one outcome for each peer. */
export interface Contest {
  readonly name: string;
  readonly unit: string;
  readonly ours: () => Promise<number>;
  readonly peers: readonly {
    readonly name: string;
    readonly rate: () => Promise<number>;
    readonly atLeast: number;
  }[];
}

/** Several figures of the same load, each with its limit; `measure` returns them in the order of `limits`. */
interface Limits {
  readonly unit: string;
  readonly limits: readonly { readonly name: string; readonly atMost: number }[];
  readonly measure: () => Promise<readonly number[]>;
}

/**
 * The cost of the same load at several sizes of the service, the smallest first: lower is better. Each size measures the figures in
 * their order. There is one outcome for each figure and each larger size.
 */
export interface Scaling {
  readonly figures: readonly { readonly name: string; readonly unit: string }[];
  readonly sizes: readonly { readonly name: string; readonly measure: () => Promise<readonly number[]> }[];
  /** How much more a larger size may cost, as a multiple of the smallest. */
  readonly atMost: number;
}

export type Measure = Comparison | Limit | Contest | Limits | Scaling;

/** A benchmark, which can run at full or short size: see lab.ts. */
export interface Entry {
  readonly name: string;
  readonly prepare: (lab: Lab) => Promise<readonly Measure[]>;
}

/** The result of a measure: medians, and the rounds they were computed from. A limit has neither peer nor ratio. */
export interface Outcome {
  readonly unit: string;
  readonly ours: number;
  readonly peer: number | null;
  readonly ratio: number | null;
  /** For a comparison the minimum ratio, for a limit the maximum value, for a size the maximum ratio. */
  readonly target: number;
  /** Of a size: the ratio is one of costs. */
  readonly lowerIsBetter?: true;
  readonly reached: boolean;
  /** The same measure of another checkout, taken just before: see before.ts. */
  readonly before?: Before;
  readonly rounds: { readonly ours: readonly number[]; readonly peer: readonly number[] };
}

/** The medians of another checkout, and the commit that was checked out. */
export interface Before {
  readonly commit: string;
  readonly ours: number;
  readonly ratio: number | null;
}

/** Odd, so that the median is a measured value. */
const defaultRounds = 5;
const minRounds = 3;

/** Runs each side once to warm up, then the rounds. Returns the outcomes by name. */
export async function run(measure: Measure, rounds = defaultRounds): Promise<Record<string, Outcome>> {
  if (rounds < minRounds) throw new Error(`a median of ${rounds} rounds means nothing; run at least ${minRounds}`);
  if ('peer' in measure) return { [measure.name]: await runComparison(measure, rounds) };
  if ('peers' in measure) return runContest(measure, rounds);
  if ('limits' in measure) return runLimits(measure, rounds);
  if ('sizes' in measure) return runScaling(measure, rounds);
  const { name, unit, atMost } = measure;
  return runLimits({ unit, limits: [{ name, atMost }], measure: async () => [await measure.measure()] }, rounds);
}

/** Runs each side once and returns the figures by name. They only show that the measure works: one run measures nothing. */
export async function runOnce(measure: Measure): Promise<Record<string, readonly number[]>> {
  if ('peer' in measure) return { [measure.name]: [await measure.ours(), await measure.peer()] };
  if ('peers' in measure) {
    const ours = await measure.ours();
    const theirs: [string, readonly number[]][] = [];
    for (const { name, rate } of measure.peers) theirs.push([`${measure.name}, against ${name}`, [ours, await rate()]]);
    return Object.fromEntries(theirs);
  }
  if ('sizes' in measure) return runSizesOnce(measure);
  if (!('limits' in measure)) return { [measure.name]: [await measure.measure()] };
  const figures = await measure.measure();
  return Object.fromEntries(measure.limits.map(({ name }, n) => [name, [figures[n] ?? Number.NaN]]));
}

export function nameOf(measure: Measure): string {
  if ('name' in measure) return measure.name;
  return ('limits' in measure ? measure.limits : measure.figures).map(({ name }) => name).join('; ');
}

/** The sides alternate who goes first, so that a machine that becomes slower or faster affects both alike. */
async function runComparison({ unit, ours, peer, atLeast }: Comparison, rounds: number): Promise<Outcome> {
  const measured = { ours: [] as number[], peer: [] as number[] };
  await ours();
  await peer();
  for (let round = 0; round < rounds; round += 1) {
    if (round % 2 === 0) {
      measured.ours.push(await ours());
      measured.peer.push(await peer());
    } else {
      measured.peer.push(await peer());
      measured.ours.push(await ours());
    }
  }
  return comparisonOutcome(unit, measured, atLeast);
}

function comparisonOutcome(unit: string, rounds: Outcome['rounds'], atLeast: number): Outcome {
  const medians = { ours: median(rounds.ours), peer: median(rounds.peer) };
  const ratio = medians.ours / medians.peer;
  return { unit, ...medians, ratio, target: atLeast, reached: ratio >= atLeast, rounds };
}

/** Each round begins with the next side, so that a machine that becomes slower or faster affects all alike. */
async function runContest({ name, unit, ours, peers }: Contest, rounds: number): Promise<Record<string, Outcome>> {
  const sides = [ours, ...peers.map(({ rate }) => rate)].map((rate) => ({ rate, measured: [] as number[] }));
  for (const { rate } of sides) await rate();
  for (let round = 0; round < rounds; round += 1) {
    const first = round % sides.length;
    for (const { rate, measured } of [...sides.slice(first), ...sides.slice(0, first)]) measured.push(await rate());
  }
  const [mine = [], ...theirs] = sides.map(({ measured }) => measured);
  const outcomes = peers.map((peer, n) => {
    const measured = { ours: mine, peer: theirs[n] ?? [] };
    return [`${name}, against ${peer.name}`, comparisonOutcome(unit, measured, peer.atLeast)] as const;
  });
  return Object.fromEntries(outcomes);
}

async function runLimits({ unit, limits, measure }: Limits, rounds: number): Promise<Record<string, Outcome>> {
  const measured: (readonly number[])[] = [];
  await measure();
  while (measured.length < rounds) measured.push(await measure());
  const outcomes = limits.map(({ name, atMost }, n) => {
    const values = measured.map((figures) => figures[n] ?? Number.NaN);
    return [name, limitOutcome(unit, values, atMost)] as const;
  });
  return Object.fromEntries(outcomes);
}

/** Each round begins with the next size, like a contest. */
async function runScaling({ figures, sizes, atMost }: Scaling, rounds: number): Promise<Record<string, Outcome>> {
  const measured = sizes.map(({ name, measure }) => ({ name, measure, rounds: [] as (readonly number[])[] }));
  for (const { measure } of measured) await measure();
  for (let round = 0; round < rounds; round += 1) {
    const first = round % measured.length;
    for (const size of [...measured.slice(first), ...measured.slice(0, first)]) size.rounds.push(await size.measure());
  }
  const [smallest, ...larger] = measured;
  if (smallest === undefined) throw new Error('there are no sizes to measure');
  const outcomes = figures.flatMap(({ name, unit }, n) => {
    const valuesOf = (size: typeof smallest): number[] => size.rounds.map((values) => values[n] ?? Number.NaN);
    return larger.map((size) => {
      const values = { ours: valuesOf(size), peer: valuesOf(smallest) };
      return [`${name}, ${size.name} against ${smallest.name}`, sizeOutcome(unit, values, atMost)] as const;
    });
  });
  return Object.fromEntries(outcomes);
}

async function runSizesOnce({ figures, sizes }: Scaling): Promise<Record<string, readonly number[]>> {
  const measured: (readonly number[])[] = [];
  for (const { measure } of sizes) measured.push(await measure());
  return Object.fromEntries(
    figures.map(({ name }, n) => [name, measured.map((values) => values[n] ?? Number.NaN)] as const),
  );
}

function sizeOutcome(unit: string, rounds: Outcome['rounds'], atMost: number): Outcome {
  const medians = { ours: median(rounds.ours), peer: median(rounds.peer) };
  const ratio = medians.ours / medians.peer;
  return { unit, ...medians, ratio, target: atMost, lowerIsBetter: true, reached: ratio <= atMost, rounds };
}

/** The outcome of a limit from the values of its rounds. */
export function limitOutcome(unit: string, measured: readonly number[], atMost: number): Outcome {
  const ours = median(measured);
  return {
    unit,
    ours,
    peer: null,
    ratio: null,
    target: atMost,
    reached: ours <= atMost,
    rounds: { ours: measured, peer: [] },
  };
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const above = sorted[Math.floor(sorted.length / 2)];
  const below = sorted[Math.ceil(sorted.length / 2) - 1];
  if (above === undefined || below === undefined) throw new Error('cannot compute the median of an empty list');
  return (below + above) / 2;
}
