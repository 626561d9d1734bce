/** Ours against a peer that does the same with nothing around it. Both answer a rate: more is better. */
export interface Comparison {
  readonly name: string;
  readonly unit: string;
  readonly ours: () => Promise<number>;
  readonly peer: () => Promise<number>;
  /** The share of the peer's rate that ours must reach. */
  readonly atLeast: number;
}

/** Ours against a fixed limit: less is better. */
export interface Limit {
  readonly name: string;
  readonly unit: string;
  readonly measure: () => Promise<number>;
  readonly atMost: number;
}

export type Measure = Comparison | Limit;

/** One thing to measure. What `prepare` starts, it gives to the scope, which ends it however the run goes. */
export interface Entry {
  readonly name: string;
  readonly prepare: (scope: AsyncDisposableStack) => Promise<readonly Measure[]>;
}

/** What came of a measure: medians, and the rounds they were taken from. A limit has neither peer nor ratio. */
export interface Outcome {
  readonly unit: string;
  readonly ours: number;
  readonly peer: number | null;
  readonly ratio: number | null;
  /** Of a comparison the least ratio, of a limit the most of its unit. */
  readonly target: number;
  readonly reached: boolean;
  readonly rounds: { readonly ours: readonly number[]; readonly peer: readonly number[] };
}

/** Odd, so that the median is a value that was measured. */
const defaultRounds = 5;
const leastRounds = 3;

/** Each side once to warm up, then the rounds; what they gave is forgotten, but for the medians. */
export async function run(measure: Measure, rounds = defaultRounds): Promise<Outcome> {
  if (rounds < leastRounds) throw new Error(`a median of ${rounds} rounds says nothing; take ${leastRounds} or more`);
  return 'peer' in measure ? compare(measure, rounds) : hold(measure, rounds);
}

/** The two take turns at going first, so that a machine that grows slower or faster does so to both. */
async function compare({ unit, ours, peer, atLeast }: Comparison, rounds: number): Promise<Outcome> {
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
  const medians = { ours: median(measured.ours), peer: median(measured.peer) };
  const ratio = medians.ours / medians.peer;
  return { unit, ...medians, ratio, target: atLeast, reached: ratio >= atLeast, rounds: measured };
}

async function hold({ unit, measure, atMost }: Limit, rounds: number): Promise<Outcome> {
  const measured: number[] = [];
  await measure();
  while (measured.length < rounds) measured.push(await measure());
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
  if (above === undefined || below === undefined) throw new Error('nothing has no median');
  return (below + above) / 2;
}
