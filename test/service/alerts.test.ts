import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { provokeFaults } from '../support/processes/alert-faults.ts';
import type { Scrape } from '../support/processes/metrics.ts';
import { freePort } from '../support/network/free-port.ts';
import { temporaryDirectory } from '../support/processes/process.ts';
import { findProgram } from '../support/processes/programs.ts';
import { call, startTestServer, until, type Json } from '../support/server.ts';
import { expectStatus } from '../support/world.ts';

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

test('promtool accepts the names and types of all metrics', { skip }, async () => {
  await using server = await startTestServer();
  const input = expectStatus(await call(server, 'GET /metrics'), 200).body;
  const { status, stdout, stderr } = spawnSync(promtool ?? '', ['check', 'metrics'], { encoding: 'utf8', input });
  assert.equal(status, 0, stdout + stderr);
});

const prometheus = findProgram('prometheus');

/** What a real Prometheus says about a server that has ended, as a series of two hours. */
async function downSeries(): Promise<string> {
  const folder = temporaryDirectory();
  const [port, server] = [await freePort(), await startTestServer()];
  const config = join(folder.path, 'prometheus.yaml');
  const target = new URL(server.url).host;
  const job = `{ job_name: usher, static_configs: [{ targets: ['${target}'] }] }`;
  writeFileSync(config, `global: { scrape_interval: 1s }\nscrape_configs: [${job}]\n`);
  const storage = `--storage.tsdb.path=${join(folder.path, 'data')}`;
  const args = [`--config.file=${config}`, storage, `--web.listen-address=127.0.0.1:${port}`, '--log.level=error'];
  const child = spawn(prometheus ?? '', args, { stdio: 'ignore' });
  const read = async (): Promise<{ metric: Record<string, string>; value: [number, string] } | undefined> => {
    const response = await fetch(`http://127.0.0.1:${port}/api/v1/query?query=up`).catch(() => null);
    return response?.ok === true ? ((await response.json()) as Json).data.result[0] : undefined;
  };
  let isOpen = true;
  const close = async (): Promise<void> => {
    if (isOpen) await server[Symbol.asyncDispose]();
    isOpen = false;
  };
  try {
    await until(async () => (await read())?.value[1] === '1');
    await close();
    await until(async () => (await read())?.value[1] === '0');
    const { job: name = '', instance = '' } = (await read())?.metric ?? {};
    return `      - { series: 'up{job="${name}",instance="${instance}"}', values: '0x120' }`;
  } finally {
    await close();
    child.kill('SIGKILL');
    folder.remove();
  }
}

test('every metric of the dashboards and alerts exists, and every alert fires in its fault and not without it', async (t) => {
  const { healthy, faulty, crowded, slow, forgotten, blocked, silent, silentAtSec } = await provokeFaults();

  await t.test('every metric exists in a scrape', () => {
    const existing = new Set([...healthy.keys(), ...faulty.keys()].map((series) => series.split('{', 1)[0]));
    const missing = [...namedMetrics()].filter(([name]) => !existing.has(name) && !foreign.has(name));
    assert.deepEqual(missing, []);
  });

  const faults = new Map<string, string>();
  const fires = (alert: string, series: string): unknown => faults.set(alert, series);
  fires('UsherDatabaseDown', seriesOf(silent, ['usher_database_up']));
  fires('UsherChangeChannelDeaf', seriesOf(silent, ['usher_change_channel_live']));
  const requests = 'usher_http_request_duration_seconds_count';
  // The scrapes of this test are requests, too.
  const all = [...silent.keys()].filter((each) => each.startsWith(requests) && !each.includes('"/metrics"'));
  fires('UsherRequestsFail', seriesOf(silent, [requests], all));
  fires('UsherLongWait', seriesOf(faulty, ['usher_queue_longest_wait_seconds']));
  fires('UsherQueueUnstaffed', seriesOf(faulty, ['usher_queue_visitors', 'usher_queue_staff']));
  fires('UsherDeliveriesLate', seriesOf(faulty, ['usher_deliveries_channel_oldest_due_seconds']));
  fires('UsherReceiverDown', seriesOf(faulty, ['usher_delivery_destinations']));
  const outcomes = [...faulty.keys()].filter((each) => each.startsWith('usher_deliveries_total'));
  fires('UsherDeliveriesExhausted', seriesOf(faulty, ['usher_deliveries_total'], outcomes));
  fires('UsherScannerDown', seriesOf(faulty, ['usher_files_pending_age_seconds']));
  fires('UsherPoolCrowded', seriesOf(crowded, ['usher_database_pool_oldest_wait_seconds']));
  const transaction = 'usher_database_oldest_transaction_seconds';
  fires('UsherTransactionForgotten', seriesOf(forgotten, [transaction], [transaction]));
  const turns = 'usher_turn_duration_seconds_bucket';
  const buckets = [...slow.keys()].filter((each) => each.startsWith(turns));
  fires('UsherRoutingSlow', seriesOf(slow, [turns], buckets));
  fires('UsherEventLoopBlocked', seriesOf(blocked, ['nodejs_eventloop_lag_p99_seconds']));
  // Time begins at 0 in a test of rules, so this is when the tasks last succeeded before the database fell silent.
  const work = ['usher_work_last_success_timestamp_seconds', 'usher_work_interval_seconds'];
  const stopped = new Map(
    [...silent].map(([series, value]) => [series, series.startsWith(work[0] ?? '') ? value - silentAtSec : value]),
  );
  fires('UsherWorkStopped', seriesOf(stopped, work));
  fires('UsherDown', prometheus === null ? '' : await downSeries());
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
