import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { codeChecks, formatCheck, runChecks } from './checks.ts';
import { prepareTools, withoutTools } from './install-test-tools.ts';
import { printProcessorSeconds } from './processor-seconds.ts';

/**
 * `npm test`: `node --test` on all test files, each in a process of its own, and all checks. With test files as arguments it runs only those
 * and no checks. Options:
 *
 * - `--install-tools` installs the programs that tests need.
 * - `--times` prints the processor seconds of each file.
 * - `--test-…=…` is passed on to Node: `--test-concurrency=1`, `--test-name-pattern=…`.
 *
 * Ends with 1 if tests failed, and with 2 if a check failed or a tool is missing in CI.
 */
const testsFailed = 1;
const othersFailed = 2;

const allTests = [
  'packages/*/src/**/*.test.ts',
  'test/**/*.test.ts',
  'bench/*.test.ts',
  'bench/{measuring,webhooks}/*.test.ts',
];
/** Most files wait for other processes now and then, so more files than processors run at once. */
const filesAtOnce = 4;
/** No test takes longer. Longest: bench/entries.test.ts and, with `PROVE`, the random histories of the board. */
const maxTestMs = 1_800_000;

const args = process.argv.slice(2);
const files = args.filter((arg) => !arg.startsWith('--'));
const options = args.filter((arg) => arg.startsWith('--'));
const nodeOptions = options.filter((option) => option.startsWith('--test-'));
const known = new Set(['--install-tools', '--install-browser', '--times']);
const unknown = options.find((option) => !known.has(option) && !nodeOptions.includes(option));
if (unknown !== undefined)
  throw new Error(`unknown option ${unknown}; npm test has --install-tools, --times and the options --test-… of Node`);
if (options.includes('--install-browser'))
  console.error('--install-browser is now --install-tools, and the next release no longer has the old name.');

// Most files load the whole server, and the compile cache saves most of that time.
process.env['NODE_COMPILE_CACHE'] ??= join(tmpdir(), 'node-compile-cache');
const { missing, isComplete } = prepareTools(
  options.includes('--install-tools') || options.includes('--install-browser'),
);

const isWhole = files.length === 0;
const found = globSync(isWhole ? allTests : files);
if (found.length === 0) throw new Error(`no test file matches ${files.join(', ')}`);
const runnable = isWhole ? withoutTools(found, missing) : found;
if (runnable.length < found.length)
  console.error(
    `${found.length - runnable.length} of ${found.length} test files do not run: they need tools that are missing.`,
  );

const lowestPriority = 19;
const checks = (isWhole ? [codeChecks, [formatCheck]] : []).map(async (lane) => runChecks(lane, lowestPriority));
const passed = await runTests(runnable);
const failedChecks = (await Promise.all(checks)).flat();
if (failedChecks.length > 0) console.error(`Failed checks: ${failedChecks.join(', ')}.`);
process.exitCode = failedChecks.length > 0 || !isComplete ? othersFailed : passed ? 0 : testsFailed;

async function runTests(paths: readonly string[]): Promise<boolean> {
  const folder = options.includes('--times') ? mkdtempSync(join(tmpdir(), 'usher-times-')) : null;
  try {
    const child = spawn(
      process.execPath,
      [
        '--import=./scripts/test-process.ts',
        '--test',
        '--test-global-setup=test/setup.ts',
        `--test-concurrency=${filesAtOnce}`,
        `--test-timeout=${maxTestMs}`,
        ...nodeOptions,
        ...paths,
      ],
      { stdio: 'inherit', env: { ...process.env, ...(folder === null ? {} : { TEST_TIMES: folder }) } },
    );
    const [code] = (await once(child, 'exit')) as [number | null];
    if (folder !== null) printProcessorSeconds(folder);
    return code === 0;
  } finally {
    if (folder !== null) rmSync(folder, { recursive: true });
  }
}
