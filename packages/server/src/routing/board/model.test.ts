import { test } from 'node:test';
import fc from 'fast-check';
import { history } from '../../../../../test/support/board/model-history.ts';
import { Run } from '../../../../../test/support/board/model-run.ts';

/** The short form always uses the same seed; `npm run prove` sets a seed and runs longer. */
const seed = process.env['PROVE'];
const form = seed === undefined ? { numRuns: 700, seed: 4 } : { numRuns: 20_000, seed: Number(seed) };

test(`D1–D5: the board behaves like the simple reference in ${form.numRuns} random histories`, () => {
  fc.assert(
    fc.property(history, ({ steps, ...account }) => {
      const run = new Run(account);
      for (const step of steps) run.step(step);
    }),
    form,
  );
});
