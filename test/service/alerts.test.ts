import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { cloneDatabase } from '../support/database.ts';
import { scrape, type Scrape } from '../support/metrics.ts';
import { findProgram } from '../support/programs.ts';
import { startProxy } from '../support/proxy.ts';
import { startReceiver } from '../support/receiver.ts';
import { call, startTestServer, until } from '../support/server.ts';
import { insertWaiting, makeWebhook } from '../support/webhooks.ts';
import { enqueue, expectStatus, makeAccount, makeQueue } from '../support/world.ts';

const rulesFile = resolve('ops/prometheus/alerts.yaml');
const rules = readFileSync(rulesFile, 'utf8');
const alerts = [...rules.matchAll(/^ *- alert: (\w+)$/gm)].map(([, name = '']) => name);
const promtool = findProgram('promtool');
const skip = promtool === null ? 'promtool is not installed (Debian: apt-get install prometheus)' : false;

/** Metrics that Usher does not report itself: Prometheus makes `up`. */
const foreign = new Set(['up']);

/** The metrics that the expressions of the alerts and dashboards name. */
function namedMetrics(): Map<string, string> {
  const found = new Map<string, string>();
  const note = (file: string, expression: string): void => {
    for (const [name] of expression.matchAll(/\b(?:usher|nodejs|process)_[a-z0-9_]+\b/g)) found.set(name, file);
  };
  note(rulesFile, rules.replaceAll(/^ *(?:summary|runbook): .*$/gm, ''));
  for (const file of globSync('ops/grafana/*.json')) {
    const { panels } = JSON.parse(readFileSync(file, 'utf8')) as { panels: { targets: { expr: string }[] }[] };
    for (const { expr } of panels.flatMap(({ targets }) => targets)) note(file, expr);
  }
  return found;
}

/** The samples of a scrape in a fault, as constant series of two hours; counters, which a test names, rise instead. */
function seriesOf(numbers: Scrape, names: readonly string[], rising: readonly string[] = []): string {
  const chosen = [...numbers].filter(([series]) => names.includes(series.split('{', 1)[0] ?? ''));
  assert.ok(chosen.length > 0, names.join());
  return chosen
    .map(([series, value]) => {
      const values = rising.includes(series) ? `${value}+${value}x120` : `${value}+0x120`;
      return `      - { series: '${series}', values: '${values}' }`;
    })
    .join('\n');
}

/** Runs the rules on these series with `promtool test rules`; returns the alerts that fire after two hours. */
function firingAlerts(series: string): string[] {
  const folder = mkdtempSync(join(tmpdir(), 'usher-alerts-'));
  try {
    const expectations = alerts
      .map((name) => `      - { eval_time: 110m, alertname: ${name}, exp_alerts: [] }`)
      .join('\n');
    const text = `rule_files: ['${rulesFile}']\nevaluation_interval: 1m\ntests:\n  - interval: 1m\n    input_series:\n${series}\n    alert_rule_test:\n${expectations}\n`;
    writeFileSync(join(folder, 'test.yaml'), text);
    const { stdout, stderr } = spawnSync(promtool ?? '', ['test', 'rules', join(folder, 'test.yaml')], {
      encoding: 'utf8',
    });
    const output = stdout + stderr;
    assert.doesNotMatch(output, /unmarshal|parse error|invalid/i, output);
    // No alert is expected, so promtool names each one that fires.
    return [...new Set([...output.matchAll(/alertname: (\w+)/g)].map(([, name = '']) => name))].toSorted();
  } finally {
    rmSync(folder, { recursive: true });
  }
}

test('every alert has a section in the runbook, and names it', () => {
  const guide = readFileSync('docs/guide/watching.md', 'utf8');
  const runbooks = [...rules.matchAll(/^ *runbook: (\S+)$/gm)].map(([, path]) => path);
  assert.deepEqual(
    runbooks,
    alerts.map((name) => `docs/guide/watching.md#${name.toLowerCase()}`),
  );
  for (const name of alerts) assert.ok(guide.includes(`\n### ${name}\n`), name);
});

test('promtool accepts the alerts', { skip }, () => {
  const { status, stdout, stderr } = spawnSync(promtool ?? '', ['check', 'rules', rulesFile], { encoding: 'utf8' });
  assert.equal(status, 0, stdout + stderr);
});

/** A server whose database can fall silent, with a queue in which somebody waits, and a receiver that is down. */
async function provokeFaults(): Promise<{ healthy: Scrape; faulty: Scrape; silent: Scrape }> {
  const direct = await cloneDatabase();
  assert.ok(direct.kind === 'socket');
  await using proxy = await startProxy({ socket: `${direct.directory}/.s.PGSQL.5432` });
  const { port } = new URL(proxy.url);
  const url = `postgres://${direct.user}@127.0.0.1:${port}/${direct.database}`;
  await using server = await startTestServer({}, { kind: 'url', url });
  const { sql } = server.database;
  const account = await makeAccount(server);
  const queue = await makeQueue(server, account, { when_unstaffed: 'accept' });
  const receiver = await startReceiver();
  const working = await makeWebhook(server, account, { url: receiver.url });
  const test = { token: account.admin, body: { event_type: 'engagement.end' } };
  expectStatus(await call(server, `POST /webhooks/${working.id}/test`, test), 202);
  await until(() => receiver.arrived.length === 1);
  await receiver.close();
  const { id } = await enqueue(server, account, queue);
  const { id: canceled, visitor } = await enqueue(server, account, queue);
  const cancel = { token: visitor.token, body: { action: 'cancel' } };
  expectStatus(await call(server, `PATCH /queue_tickets/${canceled}`, cancel), 200);
  await until(async () => (await scrape(server)).has('usher_deliveries_total{outcome="delivered"}'));
  const healthy = await scrape(server);

  await sql`UPDATE queue_tickets SET entered_at = array[now() - interval '20 minutes'] WHERE id = ${id}`;
  const down = await makeWebhook(server, account, { url: 'http://127.0.0.1:9/hook' });
  // Another process has the lease, and does not deliver.
  await sql`
    UPDATE destinations SET owner = gen_random_uuid(), leased_until = 'infinity' WHERE origin = 'http://127.0.0.1:9'`;
  await insertWaiting(server, down.id, [{ state: 'retrying', dueAt: new Date(Date.now() - 1_200_000), attempts: 3 }]);
  const oldestDue = 'usher_deliveries_channel_oldest_due_seconds{channel="http"}';
  const longestWait = `usher_queue_longest_wait_seconds{queue_id="${queue}"}`;
  // Readings are cached for some seconds.
  let faulty = healthy;
  await until(async () => {
    faulty = await scrape(server);
    return [oldestDue, longestWait].every((series) => (faulty.get(series) ?? 0) > 1_100);
  });
  proxy.silence(true);
  try {
    // A request that fails, because the database is silent.
    const body = { site_id: account.siteId, media: 'text', queue_ids: [queue] };
    expectStatus(await call(server, 'POST /queue_tickets', { token: visitor.token, body }), 503);
    await until(async () => (await scrape(server)).get('usher_change_channel_live') === 0);
    return { healthy, faulty, silent: await scrape(server) };
  } finally {
    proxy.silence(false);
  }
}

test('every metric of the dashboards and alerts exists, and every alert fires in its fault and not without it', async (t) => {
  const { healthy, faulty, silent } = await provokeFaults();

  await t.test('every metric exists in a scrape', () => {
    const existing = new Set([...healthy.keys(), ...faulty.keys()].map((series) => series.split('{', 1)[0]));
    const missing = [...namedMetrics()].filter(([name]) => !existing.has(name) && !foreign.has(name));
    assert.deepEqual(missing, []);
  });

  const faults = new Map<string, string>();
  const fires = (alert: string, series: string): unknown => faults.set(alert, series);
  const made = (series: string, values: string): string => `      - { series: '${series}', values: '${values}' }`;

  // Scraped in the fault.
  fires('UsherDatabaseDown', seriesOf(silent, ['usher_database_up']));
  fires('UsherChangeChannelDeaf', seriesOf(silent, ['usher_change_channel_live']));
  const requests = 'usher_http_request_duration_seconds_count';
  // The scrapes of this test are requests, too.
  const all = [...silent.keys()].filter((each) => each.startsWith(requests) && !each.includes('"/metrics"'));
  fires('UsherRequestsFail', seriesOf(silent, [requests], all));
  fires('UsherLongWait', seriesOf(faulty, ['usher_queue_longest_wait_seconds']));
  fires('UsherQueueUnstaffed', seriesOf(faulty, ['usher_queue_visitors', 'usher_queue_staff']));
  fires('UsherDeliveriesLate', seriesOf(faulty, ['usher_deliveries_channel_oldest_due_seconds']));

  // With the real names, and values that would take long to provoke. Time begins at 0, and the tasks last succeeded then.
  const work = ['usher_work_last_success_timestamp_seconds', 'usher_work_interval_seconds'];
  const stopped = new Map(
    [...healthy].map(([series, value]) => [series, series.startsWith(work[0] ?? '') ? 0 : value]),
  );
  fires('UsherWorkStopped', seriesOf(stopped, work));
  fires('UsherDown', made('up{job="usher",instance="a"}', '0x120'));
  fires('UsherPoolCrowded', made('usher_database_pool_oldest_wait_seconds{pool="requests"}', '2x120'));
  fires('UsherDeliveriesExhausted', made('usher_deliveries_total{outcome="exhausted"}', '0+1x120'));
  fires('UsherReceiverDown', made('usher_delivery_destinations{state="open"}', '1x120'));
  fires('UsherScannerDown', made('usher_files_pending_age_seconds', '90x120'));
  fires('UsherEventLoopBlocked', made('nodejs_eventloop_lag_p99_seconds', '0.5x120'));
  const slow = ['1', '5', '+Inf'].map((le, index) =>
    made(`usher_turn_duration_seconds_bucket{le="${le}"}`, index === 0 ? '0x120' : '0+60x120'),
  );
  fires('UsherRoutingSlow', slow.join('\n'));
  assert.deepEqual([...faults.keys()].toSorted(), alerts.toSorted(), 'every alert has a fault');

  await t.test('every alert fires in its fault', { skip }, () => {
    assert.deepEqual(firingAlerts([...faults.values()].join('\n')), alerts.toSorted());
  });

  await t.test('no alert fires while all is well', { skip }, () => {
    const names = [...namedMetrics().keys()].filter((name) => rules.includes(name) && !work.includes(name));
    // Somebody waits and nobody is available: the test has no operators.
    const well = seriesOf(healthy, names.filter((name) => name !== 'usher_queue_visitors')); // prettier-ignore
    assert.deepEqual(firingAlerts(well), []);
  });
});
