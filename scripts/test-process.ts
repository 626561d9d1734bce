import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { after } from 'node:test';
import { processorSeconds } from './processor-seconds.ts';

/**
 * Loaded in every process of `npm test` before its test file. Node's runner limits the time of a test but not of its file: without these
 * limits a file that leaves a server open would keep the run from ending.
 */
const maxFileMs = 2_400_000;
/** When its tests are done, a file has this time to end. */
const maxEndMs = 120_000;

const file = relative('', process.argv[1] ?? '');

endWithin(maxFileMs);
after(() => endWithin(maxEndMs));

function endWithin(ms: number): void {
  setTimeout(() => {
    console.error(
      `${file} did not end within ${ms / 1000} s. Still open: ${process.getActiveResourcesInfo().join(', ')}.`,
    );
    process.exit(1);
  }, ms).unref();
}

/** `npm test -- --times` collects the processor seconds of each file in this folder. */
const timesFolder = process.env['TEST_TIMES'];
if (timesFolder !== undefined) {
  process.on('exit', () => {
    writeFileSync(join(timesFolder, randomUUID()), JSON.stringify({ file, ...processorSeconds() }));
  });
}
