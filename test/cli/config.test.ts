import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { test, type TestContext } from 'node:test';
import { serverProgram } from '../../scripts/built.mjs';
import { forThisFile } from '../support/fixture.ts';
import { temporaryDirectory } from '../support/processes/process.ts';
import { call, startTestServer, type Json } from '../support/server.ts';
import {
  enqueue,
  expectStatus,
  makeAccount,
  makeAvailableOperator,
  makePolicy,
  makeQueue,
  type TestAccount,
} from '../support/world.ts';

const server = await forThisFile(startTestServer());

interface Result {
  readonly code: number | null;
  readonly output: string;
  readonly errors: string;
}

/** A folder with the configuration of a new account, and the commands on it. */
async function openFolder(context: TestContext) {
  const account = await makeAccount(server);
  const folder = temporaryDirectory();
  context.after(() => folder.remove());
  const run = async (...args: readonly string[]): Promise<Result> => {
    const key = ['--url', server.url, '--key-id', account.key.id, '--key-secret', account.key.secret];
    const env = { PATH: process.env['PATH'], XDG_CONFIG_HOME: folder.path };
    const child = spawn(process.execPath, [serverProgram(), ...args, ...key], { env });
    const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
    return { code: child.exitCode, output, errors };
  };
  const directory = join(folder.path, 'config');
  const site = (): string => {
    const [name = ''] = readdirSync(join(directory, 'sites'));
    return join(directory, 'sites', name);
  };
  return {
    account,
    run,
    path: folder.path,
    pull: async (...args: readonly string[]) => run('config', 'pull', directory, ...args),
    plan: async (...args: readonly string[]) => run('config', 'plan', directory, ...args),
    apply: async (...args: readonly string[]) => run('config', 'apply', directory, ...args),
    state: join(directory, '.usher-state.json'),
    webhooks: join(directory, 'webhooks.yaml'),
    read: (): string => readFileSync(site(), 'utf8'),
    addSite: (content: string): void => writeFileSync(join(directory, 'sites', 'second.yaml'), content),
    edit: (from: string, to: string): void => {
      const before = readFileSync(site(), 'utf8');
      assert.ok(before.includes(from), `${from} is not in ${before}`);
      writeFileSync(site(), before.replace(from, to));
    },
  };
}

async function queuesOf({ admin, siteId }: TestAccount): Promise<Json[]> {
  return (await call(server, `GET /queues?site_ids[]=${siteId}`, { token: admin })).body.queues;
}

const newQueues = `queues:
  - name: Sales
    capacity_policy: { type: fixed, capacity: 5 }
    routing_policy: { media: [text], teams: [Sellers] }
    hours: Office hours
    fallback: Overflow
  - name: Overflow
    capacity_policy: { type: variable, multiplier: 2 }
    routing_policy: {}
`;

test('files are pulled, planned, applied and applied again; ids stay', async (context) => {
  const folder = await openFolder(context);
  const { account } = folder;
  await makePolicy(server, account);
  const support = await makeQueue(server, account, { name: 'Support', operator_ranking_enabled: true });
  const operator = await makeAvailableOperator(server, account);

  assert.equal((await folder.pull()).errors, '');
  const pulled = folder.read();
  const state = readFileSync(folder.state, 'utf8');
  assert.equal((await folder.pull()).code, 0);
  assert.deepEqual([folder.read(), readFileSync(folder.state, 'utf8')], [pulled, state]);
  assert.deepEqual(await folder.plan(), { code: 0, output: 'Nothing to do.\n', errors: '' });

  folder.edit('teams: []', 'teams:\n  - name: Sellers');
  folder.edit('timezone: Europe/Tallinn', 'timezone: europe/riga');
  folder.edit('queues:\n', newQueues);
  folder.edit('rankings: []', `rankings:\n      - operator: ${operator.id}\n        rank: 2`);
  const planned = await folder.plan();
  assert.equal(planned.code, 2, planned.errors);
  const [siteName = ''] = /(?<=Sellers )\(.*\)/.exec(planned.output) ?? [];
  const lines = planned.output.split('\n');
  assert.deepEqual(lines.slice(0, 4), [
    `+ team Sellers ${siteName}`,
    `~ hours Office hours ${siteName}: timezone Europe/Tallinn -> europe/riga`,
    `+ queue Overflow ${siteName}`,
    `+ queue Sales ${siteName}`,
  ]);
  assert.match(lines[4] ?? '', /^~ rankings of queue Support \(.*\): rankings \+\{operator: .*, rank: 2\}$/);
  assert.equal((await queuesOf(account)).length, 1, 'a plan changes nothing');

  const applied = await folder.apply();
  assert.deepEqual([applied.code, applied.errors], [0, ''], applied.errors);
  assert.ok(applied.output.endsWith('5 changes were made.\n'), applied.output);
  const queues = await queuesOf(account);
  const byName = (name: string): Json => queues.find((queue) => queue.name === name);
  assert.equal(byName('Support').id, support);
  assert.equal(byName('Sales').fallback_queue_id, byName('Overflow').id);
  assert.equal(byName('Sales').routing_policy.team_ids.length, 1);
  const ranks = await call(server, `GET /queues/${support}/rankings`, { token: account.admin });
  assert.deepEqual(ranks.body.operators, [{ id: operator.id, rank: 2 }]);

  assert.equal((await folder.apply()).output, 'Nothing to do.\n');
  // In between, these two would be a cycle if they were changed in the other order.
  folder.edit('    fallback: Overflow\n', '    fallback: null\n');
  folder.edit('  - name: Overflow\n', '  - name: Overflow\n    fallback: Sales\n');
  assert.ok((await folder.apply()).output.endsWith('2 changes were made.\n'));
  // The state of before, as if the first apply had been interrupted after its last request.
  writeFileSync(folder.state, state);
  assert.equal((await folder.apply()).output, 'Nothing to do.\n');
  const ids = new Set(queues.map(({ id }) => id));
  assert.deepEqual(new Set((await queuesOf(account)).map(({ id }) => id)), ids);
});

test('nothing is applied if somebody changed a thing meanwhile, and pull keeps edited files', async (context) => {
  const folder = await openFolder(context);
  const { account } = folder;
  const id = await makeQueue(server, account, { name: 'Support' });
  await folder.pull();
  folder.edit('teams: []', 'teams:\n  - name: Sellers');
  folder.edit('capacity: 10', 'capacity: 12');
  const body = { name: 'Support', capacity_policy: { type: 'fixed', capacity: 11 }, routing_policy: {} };
  expectStatus(await call(server, `PUT /queues/${id}`, { token: account.admin, body }), 200);

  const refused = await folder.apply();
  assert.equal(refused.code, 1);
  assert.match(refused.errors, /^usher: Nothing was changed: queue Support \(.*\) was changed on the server since/);
  assert.match(refused.errors, /Pull, merge your changes and plan again\.\n$/);
  assert.deepEqual((await call(server, 'GET /teams', { token: account.admin })).body.teams, []);
  assert.match((await folder.pull()).errors, /there are changes that are not applied\. Commit them/);
  assert.equal((await folder.pull('--force')).code, 0);
  assert.match(folder.read(), /capacity: 11/);
  folder.edit('capacity: 11', 'capacity: 12');
  assert.match((await folder.apply()).output, /capacity: 11\} -> \{type: fixed, capacity: 12\}\n1 change was made/);
});

test('an apply that the server ends half-way continues when it is repeated', async (context) => {
  const folder = await openFolder(context);
  const { account } = folder;
  await folder.pull();
  folder.edit(
    'queues: []',
    'queues:\n  - { name: Sales, capacity_policy: { type: fixed, capacity: 5 }, routing_policy: {} }',
  );
  const webhook =
    'url: http://127.0.0.1:9/hook\n    headers: { authorization: Bearer hidden }\n    events: [engagement.start]';
  writeFileSync(folder.webhooks, `webhooks:\n  - ${webhook}\n    method: GET\n`);
  const failed = await folder.apply();
  assert.equal(failed.code, 1);
  assert.match(
    failed.errors,
    /^usher: webhook http:\S+: \/method .* 1 of 2 changes were made\. Correct the files and repeat/,
  );
  writeFileSync(folder.webhooks, `webhooks:\n  - ${webhook}\n    method: POST\n`);
  const repeated = await folder.apply();
  assert.match(repeated.output, /^\+ webhook \S+\n {2}Get its secret with .*\n1 change was made\.\n$/, repeated.errors);
  assert.equal((await folder.apply()).output, 'Nothing to do.\n');
  assert.equal((await queuesOf(account)).length, 1);
  await folder.pull();
  assert.doesNotMatch(readFileSync(folder.webhooks, 'utf8'), /hidden/);
});

test('plan shows queues that would close and their visitors; --delete deletes only what was pulled', async (context) => {
  const folder = await openFolder(context);
  const { account } = folder;
  const always = {
    opens_at: '00:00',
    closes_at: '24:00',
    days_of_week: ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'],
  };
  const hours = await makePolicy(server, account, { timezone: 'Etc/UTC', business_hours: [always] });
  const fields = { when_unstaffed: 'accept', scheduling_policy_id: hours };
  const queue = await makeQueue(server, account, { name: 'Open', ...fields });
  await makeQueue(server, account, { name: 'Old' });
  const { id: ticket, visitor } = await enqueue(server, account, queue);
  await folder.pull();
  // Without quotes, YAML 1.1 reads 24:00 as the number 1440.
  assert.match(folder.read(), /opens_at: '00:00'\n +closes_at: '24:00'\n/);
  const dates = [-1, 0, 1].map((days) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10));
  folder.edit('exceptions: []', `exceptions:\n${dates.map((date) => `      - date: '${date}'\n`).join('')}`);
  const { output, code } = await folder.plan();
  assert.equal(code, 2);
  assert.match(output, /queue Open \(.*\): opened -> closed now; 1 visitor waits in it/);

  const [, entry = ''] = /(\n {2}- id: \S+\n {4}name: Old\n[^]*?)\n {2}- id/.exec(folder.read()) ?? [];
  folder.edit(entry, '');
  assert.match((await folder.plan()).output, /not in the files \(kept; --delete deletes them\):\n {2}queue Old \S+\n$/);
  await makeQueue(server, account, { name: 'Unseen' });
  const unseen = await folder.apply('--delete');
  assert.match(unseen.errors, /queue Unseen \(.*\) was created on the server since the last pull\. Pull/);
  assert.equal((await queuesOf(account)).length, 3);

  assert.equal((await folder.pull('--force')).code, 0);
  folder.edit(folder.read().slice(folder.read().indexOf('\nqueues:')), '\nqueues: []\n');
  folder.addSite('site: { name: Second }\nteams: [{ name: First team }]\nqueues: []\n');
  const waiting = await folder.apply('--delete');
  assert.match(waiting.errors, /queue Open \(.*\) cannot be deleted: 1 visitor waits in it\.\n$/);
  const cancel = { token: visitor.token, body: { action: 'cancel' } };
  expectStatus(await call(server, `PATCH /queue_tickets/${ticket}`, cancel), 200);
  const deleted = await folder.apply('--delete');
  assert.match(
    deleted.output,
    /^\+ site Second\n\+ team First team \(Second\)\n(?:- queue .*\n){3}5 changes were made/,
  );
  assert.deepEqual(await queuesOf(account), []);
});

test('errors name the file, the entry and the field', async (context) => {
  const folder = await openFolder(context);
  assert.match((await folder.plan()).errors, /has no configuration\. Write it with usher config pull/);
  await folder.pull();
  const pulled = folder.read();
  for (const [queue, error] of [
    ['{ nam: Sales }', /sites\/\S+: queues\[0\]: the field "nam" is unknown\. The fields are: name, /],
    ['{ name: A, routing_policy: {}, hours: Night }', /queues\[0\]\.hours: there is no policy of hours "Night"/],
    ['{ name: A, fallback: A }', /The fallbacks of the queues form a cycle: A → A\. Change one\./],
    ['{ name: A, id: 019a0000-0000-7000-8000-000000000000 }', /there is no queue with the id .* \("A"\) on this site/],
  ] as const) {
    folder.edit('queues: []', `queues:\n  - ${queue}`);
    const { code, errors } = await folder.plan();
    assert.equal(code, 1, errors);
    assert.match(errors, error);
    folder.edit(`queues:\n  - ${queue}`, 'queues: []');
  }
  assert.equal(folder.read(), pulled);
});

test('holidays of an iCalendar file are shown, and added to the exceptions with --apply', async (context) => {
  const { account, run, path } = await openFolder(context);
  const id = await makePolicy(server, account, {
    exceptions: [{ date: '2026-12-24', opens_at: '09:00', closes_at: '12:00' }],
  });
  const file = join(path, 'holidays.ics');
  const event = (name: string, ...lines: readonly string[]): string =>
    ['BEGIN:VEVENT', `SUMMARY:${name}`, ...lines, 'END:VEVENT', ''].join('\r\n');
  const events = [
    event('Christmas', 'DTSTART;VALUE=DATE:20201224', 'DTEND;VALUE=DATE:20201227', 'RRULE:FREQ=YEARLY'),
    event('Meeting', 'DTSTART:20261228T100000Z', 'DTEND:20261228T110000Z'),
  ];
  writeFileSync(file, `BEGIN:VCALENDAR\r\n${events.join('')}END:VCALENDAR\r\n`);
  const range = ['--from', '2026-12-01', '--to', '2026-12-31'];
  const lines = [
    '= 2026-12-24  Christmas (exception: 09:00-12:00; kept)',
    '+ 2026-12-25  Christmas (fri, now 09:00-17:00)',
    '+ 2026-12-26  Christmas (sat, closed now too)',
    'skipped: Meeting: is not an all-day event',
  ];
  const preview = await run('hours', 'import', id, file, ...range);
  assert.deepEqual([preview.code, preview.output.split('\n').slice(0, 4)], [0, lines], preview.errors);
  assert.match(preview.output, /Would add 2 closed days to Office hours, .*Add them with --apply\.\n$/);
  const read = async (): Promise<Json> =>
    (await call(server, `GET /queues/scheduling_policies/${id}`, { token: account.admin })).body.exceptions;
  assert.equal((await read()).length, 1);
  assert.match(
    (await run('hours', 'import', id, file, ...range, '--apply')).output,
    /Added 2 closed days to Office hours\.\n$/,
  );
  const kept = { date: '2026-12-24', opens_at: '09:00', closes_at: '12:00' };
  assert.deepEqual(await read(), [kept, { date: '2026-12-25' }, { date: '2026-12-26' }]);
  const repeated = await run('hours', 'import', id, file, ...range, '--apply');
  assert.match(repeated.output, /Added 0 closed days/);
  const wrong = await run('hours', 'import', id, file, '--from', '2026-02-30');
  assert.match(wrong.errors, /^usher: --from must be a date such as 2026-12-24, not "2026-02-30"\.\n$/);
});
