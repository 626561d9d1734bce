import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { addBefore, measureBefore, openCheckout } from './before.ts';
import { limitOutcome, type Outcome } from './harness.ts';
import { temporaryFolder } from './processes.ts';

const outcome = (ours: number): Outcome => limitOutcome('s', [ours], 1);

/** A checkout whose benchmark is the given program. */
function makeCheckout(scope: AsyncDisposableStack, program: string): string {
  const folder = temporaryFolder(scope);
  const git = (...args: string[]): Buffer => execFileSync('git', ['-C', folder, ...args], { stdio: 'pipe' });
  mkdirSync(join(folder, 'bench'));
  writeFileSync(join(folder, 'bench', 'run.mjs'), program);
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ scripts: { bench: 'exec node bench/run.mjs' } }));
  git('init', '--quiet');
  git('add', '.');
  const author = ['-c', 'user.name=Test', '-c', 'user.email=test@example.com'];
  git(...author, 'commit', '--quiet', '--no-gpg-sign', '--message', 'Earlier');
  return folder;
}

const knowsOnlyApi = `
  import { writeFileSync } from 'node:fs';
  const [, , name] = process.argv;
  if (name !== 'api') process.exit(2);
  const machine = { node: 'v0', cores: 1, cpu: 'abacus' };
  writeFileSync('bench/results.json', JSON.stringify({ api: { machine, measures: { read: ${JSON.stringify(outcome(7))} } } }));`;

test('an entry runs in the other checkout, whose figures are added to the measures that both have', async () => {
  await using scope = new AsyncDisposableStack();
  const checkout = openCheckout(makeCheckout(scope, knowsOnlyApi));
  assert.match(checkout.commit, /^[\da-f]{7,}$/);
  const before = await measureBefore(scope, checkout, 'api');
  const both = addBefore({ read: outcome(5), added: outcome(1) }, before ?? {}, checkout.commit);
  assert.deepEqual(both['read']?.before, { commit: checkout.commit, ours: 7, ratio: null });
  assert.equal(both['added']?.before, undefined);
});

test('a folder that is not a checkout is refused', async () => {
  await using scope = new AsyncDisposableStack();
  assert.throws(() => openCheckout(join(temporaryFolder(scope), 'missing')), /is not a checkout of Usher/);
});

test('an entry that the other checkout does not have is skipped there, and a failure is reported', async () => {
  await using scope = new AsyncDisposableStack();
  const checkout = openCheckout(makeCheckout(scope, knowsOnlyApi));
  assert.equal(await measureBefore(scope, checkout, 'scale'), null);
  const failing = openCheckout(makeCheckout(scope, 'process.exit(1)'));
  await assert.rejects(measureBefore(scope, failing, 'api'), /npm run bench -- api failed in /);
});
