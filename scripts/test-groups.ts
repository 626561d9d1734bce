import { readFileSync, writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { usesBrowser } from './install-test-tools.ts';

/**
 * Test files of `npm test` that share a process. A new process loads the server (0.7 s of processor time) and runs code that V8 has not
 * compiled yet, so seven files in one process use half the processor time of seven processes. The files of one room share
 * processes, and a group has the same files in every run.
 */
export interface TestGroup {
  readonly name: string;
  /** In the order in which they run. A single file runs as it is. */
  readonly files: readonly string[];
  readonly weight: number;
}

/** These files take long. They start first, the longest before all others, and each has its own process. */
const longest = /\/(?:entries|start)\.test\.ts$/;
const long =
  /\/(entries|oldest-postgres|access|garbage|start|sample-data|delivery-ledger|[\w-]+-faults|theory|leaving|firefox|webkit|whole-call)\.test\.ts$/;

/**
 * A file that changes modules, clocks or the environment of its process would also change them for the files after it, and a file that
 * measures processor time would also measure other files. Such a file has its own process.
 */
const changesProcess =
  /\bregisterHooks\(|(?<!\bt\.)\bmock\.(?:timers|method|module)\b|\bprocess\.env\[[^\]]+\] *=(?!=)|\bprocess\.cpuUsage\(|\/stepped-clocks\.ts/;

/** What a test waits for: a condition, a time or another process. */
const wait = /\b(?:until|sleep|setTimeout|launch|startCluster|spawn|execFile)\(/g;
/** A file with fewer waits than one in so many characters is busy: it mostly uses the processor. */
const charactersPerWait = 4_000;

/** The weight of a file is its length in characters, which predicts how long it takes. A browser makes it about three times as long. */
const browserFactor = 3;
/** Files that wait take about this many times longer. They use little of the processors, so a group of them must not be the last to run. */
const waitingFactor = 3;
/**
 * A group of files that wait takes about half a minute. They wait one after the other, so a larger group would still run at the end,
 * when all others are done. Busy files are faster the more of them share a process.
 */
const mostWeight = { waiting: 100_000, busy: 250_000 };
const longWeight = 1e9;

interface TestFile {
  readonly path: string;
  readonly weight: number;
  /** How long it takes, in the unit of the weight. */
  readonly takes: number;
  readonly isAlone: boolean;
  readonly isBusy: boolean;
}

function readTestFile(path: string): TestFile {
  const source = readFileSync(path, 'utf8');
  const isLong = long.test(path);
  const inBrowser = usesBrowser.test(source);
  const weight = source.length * (inBrowser ? browserFactor : 1);
  const hasFewWaits = [...source.matchAll(wait)].length * charactersPerWait < source.length;
  const takes =
    weight * (inBrowser || hasFewWaits ? 1 : waitingFactor) +
    (isLong ? longWeight : 0) +
    (longest.test(path) ? longWeight : 0);
  const isAlone = isLong || changesProcess.test(source);
  return { path, weight, takes, isAlone, isBusy: !inBrowser && hasFewWaits };
}

const units = 'units';
const busy = 'busy tests';

/** `test/platform/pools.test.ts` → `platform`. Busy files share groups whatever their room is, and so do unit tests. */
function roomOf({ path, isBusy }: TestFile): string {
  const [first = '', second = ''] = path.split('/');
  if (first === 'packages') return units;
  if (isBusy) return busy;
  return first === 'test' ? second : first;
}

/** Rooms that would fill less than half a group share groups. */
function roomsOf(files: readonly TestFile[]): Map<string, TestFile[]> {
  const isSmall = (ofRoom: readonly TestFile[]): boolean => weightOf(ofRoom) < mostWeight.waiting / 2;
  const rooms = Map.groupBy(files, roomOf);
  const small = new Set([...rooms].filter(([, ofRoom]) => isSmall(ofRoom)).map(([room]) => room));
  return Map.groupBy(files, (file) => (small.has(roomOf(file)) ? 'small rooms' : roomOf(file)));
}

/** Puts every file into exactly one group. The groups that take longest come first. */
export function groupTestFiles(paths: readonly string[]): TestGroup[] {
  const files = paths.toSorted().map(readTestFile);
  const groups: TestGroup[] = files
    .filter(({ isAlone }) => isAlone)
    .map((file) => groupOf(basename(file.path), [file]));
  for (const [room, ofRoom] of roomsOf(files.filter(({ isAlone }) => !isAlone))) {
    const most = room === units || room === busy ? mostWeight.busy : mostWeight.waiting;
    for (const [index, part] of divide(ofRoom, most).entries()) groups.push(groupOf(`${room} ${index + 1}`, part));
  }
  return groups.toSorted((one, other) => other.weight - one.weight);
}

function groupOf(name: string, files: readonly TestFile[]): TestGroup {
  const weight = files.reduce((sum, { takes }) => sum + takes, 0);
  return { name, files: files.map(({ path }) => path), weight };
}

function weightOf(files: readonly TestFile[]): number {
  return files.reduce((sum, { weight }) => sum + weight, 0);
}

/** Divides files into parts of about the same weight: from the heaviest to the lightest, each file goes to the lightest part. */
function divide(files: readonly TestFile[], most: number): TestFile[][] {
  const parts = Array.from({ length: Math.ceil(weightOf(files) / most) }, () => ({
    weight: 0,
    files: [] as TestFile[],
  }));
  for (const file of files.toSorted((one, other) => other.weight - one.weight)) {
    const lightest = parts.reduce((least, part) => (part.weight < least.weight ? part : least));
    lightest.weight += file.weight;
    lightest.files.push(file);
  }
  return parts.map((part) => part.files).filter((part) => part.length > 0);
}

/**
 * Writes the file that Node's test runner starts for a group. It loads each test file inside a test, so that the tests and hooks of the
 * file belong to that test, and the next file is loaded after they are done.
 */
export function writeEntry(folder: string, { name, files }: TestGroup): string {
  const [only] = files;
  if (files.length === 1 && only !== undefined) return only;
  const entry = join(folder, `${name.replaceAll(' ', '-')}.test.mts`);
  const urls = files.map((file) => [file, pathToFileURL(resolve(file)).href]);
  writeFileSync(
    entry,
    `import { test } from 'node:test';
for (const [file, url] of ${JSON.stringify(urls)}) test(file, async () => void (await import(url)));
`,
  );
  return entry;
}
