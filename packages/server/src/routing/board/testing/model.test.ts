import { test } from 'node:test';
import fc from 'fast-check';
import { life } from './model-life.ts';
import { Run } from './model-run.ts';

/** The short form is the same each time; `npm run prove` gives a seed, and takes longer. */
const seed = process.env['PROVE'];
const form = seed === undefined ? { numRuns: 700, seed: 4 } : { numRuns: 20_000, seed: Number(seed) };

test(`D1–D5: the board behaves like the simple reference in ${form.numRuns} random lives`, () => {
  fc.assert(
    fc.property(life, ({ steps, ...account }) => {
      const run = new Run(account);
      for (const step of steps) run.step(step);
    }),
    form,
  );
});
