import { codeChecks, runChecks, type Check } from './checks.ts';

/**
 * `npm run check`: types, lint, imports, dead code and the unit tests, in under a minute. Unit tests need neither a database
 * nor a browser, so all of them run in one process. With file names as arguments, only those unit tests run.
 */
const files = process.argv.slice(2);
const unitTests: Check = [
  'unit tests',
  [
    '--test',
    '--test-isolation=none',
    '--test-reporter=dot',
    ...(files.length === 0 ? ['packages/*/src/**/*.test.ts'] : files),
  ],
];
const failed = (await Promise.all([runChecks([unitTests]), runChecks(codeChecks)])).flat();
if (failed.length > 0) console.error(`Failed checks: ${failed.join(', ')}.`);
process.exitCode = failed.length === 0 ? 0 : 1;
