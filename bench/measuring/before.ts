import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { pathToFileURL } from 'node:url';
import { end } from './processes.ts';
import { readResults, type Outcomes } from './results.ts';

/** The exit code of `npm run bench` for a name that it does not know. */
export const unknownEntry = 2;

/** Another checkout of this repository, to compare with. */
export interface Checkout {
  readonly folder: string;
  readonly commit: string;
}

export function openCheckout(folder: string): Checkout {
  const git = ['-C', folder, 'describe', '--always', '--dirty'];
  const { status, stdout } = spawnSync('git', git, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${folder} is not a checkout of Usher: Git knows no commit there.`);
  return { folder, commit: stdout.trim() };
}

/**
 * Runs an entry in another checkout, with the benchmarks of that checkout, because some of them import the code they measure.
 * Returns `null` if it does not have the entry.
 */
export async function measureBefore(
  scope: AsyncDisposableStack,
  { folder }: Checkout,
  entry: string,
): Promise<Outcomes | null> {
  const child = spawn('npm', ['run', '--silent', 'bench', '--', entry], { cwd: folder, stdio: ['ignore', 2, 2] });
  // npm passes the signal on, so that the benchmark ends what it has started.
  scope.defer(async () => end(child));
  const [code] = (await once(child, 'exit')) as [number | null];
  if (code === unknownEntry) return null;
  if (code !== 0) throw new Error(`npm run bench -- ${entry} failed in ${folder}`);
  const results = await readResults(new URL('bench/results.json', `${pathToFileURL(folder).href}/`));
  return results[entry]?.measures ?? null;
}

/** Adds the figures of the other checkout to the measures that both have. */
export function addBefore(outcomes: Outcomes, before: Outcomes, commit: string): Outcomes {
  return Object.fromEntries(
    Object.entries(outcomes).map(([name, outcome]) => {
      const earlier = before[name];
      if (earlier === undefined) return [name, outcome];
      return [name, { ...outcome, before: { commit, ours: earlier.ours, ratio: earlier.ratio } }];
    }),
  );
}
