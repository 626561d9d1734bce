import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Databases } from './measuring/databases.ts';
import { findBrowser } from '../test/support/browser/browser.ts';
import { entries } from './entries.ts';
import { runOnce } from './measuring/harness.ts';
import { shortLab, startSharedDatabases } from './measuring/lab.ts';
import { isProof } from '../test/support/proof.ts';
import { hangMs } from '../test/support/slowness.ts';

/**
 * Runs entries of `npm run bench` once with about a second of load, to check that each still measures something: `npm run prove` all,
 * `npm test` one.
 */
const smokeTest = 'chat';

const scope = new AsyncDisposableStack();
let shared: Databases;

before(async () => {
  shared = await startSharedDatabases(scope);
});
after(async () => scope.disposeAsync());

/** In CI a missing browser fails the run earlier: see scripts/install-test-tools.ts. */
const withoutBrowser = findBrowser() === null ? 'Chromium is not installed' : false;

for (const { name, prepare } of entries) {
  const skip = isProof || name === smokeTest ? name === 'console-board' && withoutBrowser : 'runs with npm run prove';
  test(`${name} can be measured`, { timeout: hangMs, skip }, async (t) => {
    await using own = new AsyncDisposableStack();
    const measures = await prepare(shortLab(own, shared));
    assert.ok(measures.length > 0);
    for (const measure of measures) {
      for (const [figure, values] of Object.entries(await runOnce(measure))) {
        t.diagnostic(
          `${figure}: ${values.map((value) => value.toPrecision(3)).join(' against ')} ${'unit' in measure ? measure.unit : ''}`,
        );
        assert.ok(values.every(Number.isFinite), `${figure} is a number`);
        // A difference of memory or of costs may be negative, and a browser may have had no long task.
        const mayBeZero = figure.startsWith('memory of') || figure.includes(', less ') || figure === 'longest task';
        assert.ok(mayBeZero || values.every((value) => value > 0), `${figure} is greater than zero`);
      }
    }
  });
}

test('every entry has a unique name', () => {
  const names = entries.map(({ name }) => name);
  assert.deepEqual(names, [...new Set(names)]);
});
