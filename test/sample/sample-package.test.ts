import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startCluster } from '../support/cluster.ts';
import type { UsherProcess } from '../support/process.ts';
import { callSampleData } from '../support/sample-data.ts';
import { until } from '../support/server.ts';
import { makeAccount } from '../support/world.ts';

/** Prints the URL of every imported module. */
const printModules = `
  import { registerHooks } from 'node:module';
  registerHooks({
    resolve(specifier, context, next) {
      const found = next(specifier, context);
      process.stderr.write('loads ' + found.url + '\\n');
      return found;
    },
  });`;

test('a process loads the sample package only when sample data is requested or running', async () => {
  const NODE_OPTIONS = `--import "data:text/javascript,${encodeURIComponent(printModules)}"`;
  await using cluster = await startCluster(1, { NODE_OPTIONS });
  const [first] = cluster.nodes;
  assert.ok(first !== undefined);
  const loads = (node: UsherProcess, what: RegExp): boolean => what.test(node.errors);
  // From sources, or from a build.
  const sampleModules = /^loads \S+\/(?:packages\/sample\/|sample-[^/]+\.js$)/m;
  assert.equal(loads(first, /^loads \S+\/(?:sample\/routes\.ts|app-[^/]+\.js)$/m), true, 'modules are not printed');
  const server = cluster.reach(first);
  const who = await makeAccount(server);
  assert.equal((await callSampleData(server, who, 'GET')).state, 'none');
  assert.equal(loads(first, sampleModules), false);

  await callSampleData(server, who, 'POST');
  assert.equal(loads(first, sampleModules), true);
  assert.equal(await first.stop(), 0);
  const second = await cluster.start();
  await until(() => loads(second, sampleModules));
});
