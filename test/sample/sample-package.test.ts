import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startCluster } from '../support/processes/cluster.ts';
import { printModules } from '../support/processes/printed-modules.ts';
import type { UsherProcess } from '../support/processes/process.ts';
import { callSampleData } from '../support/people/sample-data.ts';
import { until } from '../support/server.ts';
import { makeAccount } from '../support/world.ts';

test('a process loads the sample package only when sample data is requested or running', async () => {
  await using cluster = await startCluster(1, printModules);
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
