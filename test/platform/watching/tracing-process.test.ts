import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startCluster } from '../../support/processes/cluster.ts';
import { startCollector } from '../../support/network/collector.ts';
import { printModules } from '../../support/processes/printed-modules.ts';
import { forThisFile } from '../../support/fixture.ts';
import { call } from '../../support/server.ts';
import { expectStatus } from '../../support/world.ts';

/** From sources, or from a build. */
const tracerModule = /^loads \S+\/(?:tracing\/otlp-tracer\.ts|otlp-tracer-[^/]+\.js)$/m;

test('a process loads the exporter only if an endpoint is set, and exports its last spans when it stops', async () => {
  const collector = await forThisFile(startCollector());
  await using plain = await startCluster(1, printModules);
  const [untraced] = plain.nodes;
  assert.match(untraced?.errors ?? '', /^loads \S+\/(?:app\.ts|app-[^/]+\.js)$/m, 'modules are not printed');
  assert.doesNotMatch(untraced?.errors ?? '', tracerModule);

  await using cluster = await startCluster(1, { ...printModules, OTEL_EXPORTER_OTLP_ENDPOINT: collector.url });
  const [traced] = cluster.nodes;
  assert.ok(traced !== undefined);
  assert.match(traced.errors, tracerModule);
  expectStatus(await call(traced, 'GET /version'), 200);
  assert.equal(await traced.stop(), 0);
  assert.ok(collector.spans.some(({ name }) => name === 'GET /version'));
});

test('a process that cannot send its spans in the protocol of the settings does not start, and says what to set', async () => {
  const settings = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4317', OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' };
  await assert.rejects(startCluster(1, settings), /OTEL_EXPORTER_OTLP_PROTOCOL must be http\/json, not "grpc"/);
});
