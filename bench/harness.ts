import type { Lab } from './lab.ts';

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

/** Ours against several peers, all of whom take their turn in each round. What came of it is told for each peer. */
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

/** Several figures of the same load, each with its limit; `measure` answers them in that order. */
interface Limits {
  readonly unit: string;
  readonly limits: readonly { readonly name: string; readonly atMost: number }[];
  readonly measure: () => Promise<readonly number[]>;
}

export type Measure = Comparison | Limit | Contest | Limits;

/** One thing to measure, in either size: see lab.ts. */
export interface Entry {
  readonly name: string;
  readonly prepare: (lab: Lab) => Promise<readonly Measure[]>;
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

/** Each side once to warm up, then the rounds; what they gave is forgotten, but for the medians. By name. */
export async function run(measure: Measure, rounds = defaultRounds): Promise<Record<string, Outcome>> {
  if (rounds < leastRounds) throw new Error(`a median of ${rounds} rounds says nothing; take ${leastRounds} or more`);
  if ('peer' in measure) return { [measure.name]: await compare(measure, rounds) };
  if ('peers' in measure) return contend(measure, rounds);
  if ('limits' in measure) return holdAll(measure, rounds);
  const { name, unit, atMost } = measure;
  return holdAll({ unit, limits: [{ name, atMost }], measure: async () => [await measure.measure()] }, rounds);
}

/** Each side once. Answers the figures by name, which say nothing: a load that is short is no measurement. */
export async function tryOut(measure: Measure): Promise<Record<string, readonly number[]>> {
  if ('peer' in measure) return { [measure.name]: [await measure.ours(), await measure.peer()] };
  if ('peers' in measure) {
    const ours = await measure.ours();
    const theirs: [string, readonly number[]][] = [];
    for (const { name, rate } of measure.peers) theirs.push([`${measure.name}, against ${name}`, [ours, await rate()]]);
    return Object.fromEntries(theirs);
  }
  if (!('limits' in measure)) return { [measure.name]: [await measure.measure()] };
  const figures = await measure.measure();
  return Object.fromEntries(measure.limits.map(({ name }, n) => [name, [figures[n] ?? Number.NaN]]));
}

export function nameOf(measure: Measure): string {
  return 'limits' in measure ? measure.limits.map(({ name }) => name).join('; ') : measure.name;
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
  return compared(unit, measured, atLeast);
}

function compared(unit: string, rounds: Outcome['rounds'], atLeast: number): Outcome {
  const medians = { ours: median(rounds.ours), peer: median(rounds.peer) };
  const ratio = medians.ours / medians.peer;
  return { unit, ...medians, ratio, target: atLeast, reached: ratio >= atLeast, rounds };
}

/** Each round begins with the next of them, for the same reason. */
async function contend({ name, unit, ours, peers }: Contest, rounds: number): Promise<Record<string, Outcome>> {
  const sides = [ours, ...peers.map(({ rate }) => rate)].map((rate) => ({ rate, measured: [] as number[] }));
  for (const { rate } of sides) await rate();
  for (let round = 0; round < rounds; round += 1) {
    const first = round % sides.length;
    for (const { rate, measured } of [...sides.slice(first), ...sides.slice(0, first)]) measured.push(await rate());
  }
  const [mine = [], ...theirs] = sides.map(({ measured }) => measured);
  const outcomes = peers.map((peer, n) => {
    const measured = { ours: mine, peer: theirs[n] ?? [] };
    return [`${name}, against ${peer.name}`, compared(unit, measured, peer.atLeast)] as const;
  });
  return Object.fromEntries(outcomes);
}

async function holdAll({ unit, limits, measure }: Limits, rounds: number): Promise<Record<string, Outcome>> {
  const measured: (readonly number[])[] = [];
  await measure();
  while (measured.length < rounds) measured.push(await measure());
  const outcomes = limits.map(({ name, atMost }, n) => {
    const values = measured.map((figures) => figures[n] ?? Number.NaN);
    return [name, held(unit, values, atMost)] as const;
  });
  return Object.fromEntries(outcomes);
}

function held(unit: string, measured: readonly number[], atMost: number): Outcome {
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
