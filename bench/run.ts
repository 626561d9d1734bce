import { parseArgs } from 'node:util';
import { addBefore, measureBefore, openCheckout, unknownEntry, type Checkout } from './measuring/before.ts';
import { entries } from './entries.ts';
import { nameOf, run, type Entry } from './measuring/harness.ts';
import { fullLab } from './measuring/lab.ts';
import { merge, readResults, thisMachine, writeResults, type Outcomes } from './measuring/results.ts';
import { table } from './measuring/table.ts';

/**
 * `npm run bench -- [--before <folder>] [name…]`: runs the named entries, or all of them, and stores the results in results.json. A
 * name also selects the entries that begin with it and a dash. With `--before`, each entry runs first in that checkout.
 */
const resultsFile = new URL('results.json', import.meta.url);

class Interrupted extends Error {}

/** Rejects when the run must stop, so that the scope ends what the run started. */
const interrupted = new Promise<never>((_resolve, reject) => {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => reject(new Interrupted(signal)));
  }
  process.on('uncaughtException', reject);
});

async function measure(entry: Entry): Promise<Outcomes> {
  await using scope = new AsyncDisposableStack();
  const outcomes: Record<string, Outcomes[string]> = {};
  const work = async (): Promise<void> => {
    for (const each of await entry.prepare(fullLab(scope))) {
      console.error(`${entry.name}: ${nameOf(each)} …`);
      Object.assign(outcomes, await run(each));
    }
  };
  await Promise.race([work(), interrupted]);
  return outcomes;
}

/** Runs the entry in the other checkout, and then here. */
async function measureBoth(entry: Entry, other: Checkout): Promise<Outcomes> {
  await using scope = new AsyncDisposableStack();
  const before = await Promise.race([measureBefore(scope, other, entry.name), interrupted]);
  return addBefore(await measure(entry), before ?? {}, other.commit);
}

async function runEntry(entry: Entry, other: Checkout | null): Promise<void> {
  const measures = other === null ? await measure(entry) : await measureBoth(entry, other);
  console.log(`\n${entry.name}\n\n${table(measures)}\n`);
  const ran = { [entry.name]: { machine: thisMachine(), measures } };
  await writeResults(resultsFile, merge(await readResults(resultsFile), ran));
}

async function runAll(chosen: readonly Entry[], other: Checkout | null): Promise<number> {
  let failed = 0;
  for (const entry of chosen) {
    try {
      await runEntry(entry, other);
    } catch (error) {
      if (error instanceof Interrupted) return 130;
      console.error(`${entry.name} failed:`, error);
      failed += 1;
    }
  }
  return failed === 0 ? 0 : 1;
}

/** Ends the program with a message if an argument is wrong. */
function readArgument<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exit(1);
  }
}

const { positionals: names, values: options } = readArgument(() =>
  parseArgs({ allowPositionals: true, options: { before: { type: 'string' } } }),
);
const checkout = readArgument(() => (options.before === undefined ? null : openCheckout(options.before)));
const matches = (name: string, entry: Entry): boolean => entry.name === name || entry.name.startsWith(`${name}-`);
const unknown = names.find((name) => !entries.some((entry) => matches(name, entry)));
if (unknown === undefined) {
  const chosen = names.length === 0 ? entries : entries.filter((entry) => names.some((name) => matches(name, entry)));
  // Exits explicitly: after an interruption the current measure would otherwise continue.
  process.exit(await runAll(chosen, checkout));
}
console.error(`Unknown benchmark "${unknown}". Available: ${entries.map((entry) => entry.name).join(', ')}.`);
process.exitCode = unknownEntry;
