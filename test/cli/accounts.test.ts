import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, test } from 'node:test';
import { urlOf } from '../support/processes/cluster.ts';
import { openFeed } from '../support/people/feed.ts';
import { fileForm, filesOnDisk, startFileEngagement, uploadFile } from '../support/people/files.ts';
import { forThisFile } from '../support/fixture.ts';
import { launch, type UsherProcess } from '../support/processes/process.ts';
import { call, startTestServer, until, type Json } from '../support/server.ts';
import { makeWebhook } from '../support/receivers/webhooks.ts';
import {
  enqueue,
  expectStatus,
  makeAccessToken,
  makeAccount,
  makeApplicationToken,
  makeAvailableOperator,
  makePolicy,
  makeQueue,
  makeTeam,
  type TestAccount,
} from '../support/world.ts';

const server = await forThisFile(startTestServer({ scanner: { kind: 'none' } }));
/** Another process of the same service. */
const second = await forThisFile(startTestServer({}, server.database.address));
const { sql } = server.database;

const launched: UsherProcess[] = [];
after(async () => {
  for (const usher of launched) await usher.stop();
});

async function accounts(...args: string[]): Promise<UsherProcess> {
  const environment = { DATABASE_URL: urlOf(server.database.address) };
  const usher = launch({ dataDir: server.dataDir, args: ['accounts', ...args], environment });
  launched.push(usher);
  await usher.ended();
  return usher;
}

async function succeed(...args: string[]): Promise<string> {
  const { child, output, errors } = await accounts(...args);
  assert.deepEqual([child.exitCode, errors], [0, '']);
  return output;
}

async function refused(line: RegExp, ...args: string[]): Promise<void> {
  const { child, output, errors } = await accounts(...args);
  assert.deepEqual([child.exitCode, output], [1, '']);
  assert.match(errors, line);
  assert.equal(errors.trim().split('\n').length, 1, errors);
}

async function idOf({ adminId }: TestAccount): Promise<string> {
  const [row] = await sql<{ id: string }[]>`SELECT account_id AS id FROM operators WHERE id = ${adminId}`;
  assert.ok(row);
  return row.id;
}

const session = 'GET /operator_authentication/sessions/current';

test('a disabled account is refused in every process until it is enabled, and its deadlines wait', async () => {
  const own = await makeAccount(server);
  const other = await makeAccount(server);
  const id = await idOf(own);
  const queue = await makeQueue(server, own);
  const accessToken = await makeAccessToken(server, own, own.adminId);
  const application = await makeApplicationToken(server, own, 'secret');
  await makeAvailableOperator(server, own);
  const { visitor } = await enqueue(server, own, queue);
  const callers = [
    { token: own.admin },
    { token: accessToken.token },
    { token: visitor.token },
    { headers: { authorization: application.header } },
  ];
  const statuses = async (): Promise<Json[]> => {
    const answers = [server, second].flatMap((each) =>
      callers.map(async (caller) => call(each, `GET /sites/${own.siteId}`, caller)),
    );
    return (await Promise.all(answers)).map(({ status, body }) => (status === 200 ? 200 : body.error));
  };
  const before = await statuses();
  assert.ok(!before.includes('account_disabled'));
  const feeds = await Promise.all([server, second].map(async (each) => openFeed(each, { token: own.admin })));
  await using staying = await openFeed(second, { token: other.admin });

  assert.equal(await succeed('disable', id), 'Account "Test" is disabled.\n');
  await until(async () => (await statuses()).every((each) => each === 'account_disabled'));
  await Promise.all(feeds.map(async ({ ended }) => ended));
  const { id: keyId, secret } = own.key;
  const signIn = { body: { api_key_id: keyId, api_key_secret: secret } };
  expectStatus(await call(second, 'POST /operator_authentication/tokens', signIn), 401);
  expectStatus(await call(server, 'POST /operator_authentication/sessions', signIn), 401);
  for (const each of [server, second]) expectStatus(await call(each, session, { token: other.admin }), 200);
  assert.match(await succeed('list'), new RegExp(`^${id} .* Test \\(disabled on \\d{4}-\\d\\d-\\d\\d\\)$`, 'm'));

  // A deadline passes, and both processes poll for due accounts meanwhile.
  await sql`UPDATE accounts SET next_due_at = now() - interval '1 second' WHERE id = ${id}`;
  const isOverdue = async (): Promise<boolean> =>
    (await sql`SELECT 1 FROM accounts WHERE id = ${id} AND next_due_at < now()`).length > 0;
  const polls = async (): Promise<number> => {
    const text = await (await fetch(`${second.url}/metrics`)).text();
    return Number(/^usher_work_last_success_timestamp_seconds\{work="poll_due_accounts"\} (\S+)/m.exec(text)?.[1] ?? 0);
  };
  const first = await polls();
  await until(async () => (await polls()) > first);
  assert.ok(await isOverdue());
  assert.equal(await Promise.race([staying.ended.then(() => 'ended'), Promise.resolve('open')]), 'open');

  assert.deepEqual(JSON.parse(await succeed('enable', id, '--json')), { id, name: 'Test', disabled: false });
  await until(async () => JSON.stringify(await statuses()) === JSON.stringify(before));
  await until(async () => !(await isOverdue()));
});

/** The number of rows of each table, by account. */
async function countRows(): Promise<Map<string, number>> {
  const tables = await sql<{ name: string }[]>`
    SELECT c.relname AS name FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'account_id'
     WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p')`;
  const counts = new Map<string, number>();
  for (const { name } of tables)
    for (const { account_id, count } of await sql<{ account_id: string; count: number }[]>`
      SELECT account_id, count(*)::integer AS count FROM ${sql(name)} GROUP BY account_id`)
      counts.set(`${account_id} ${name}`, count);
  return counts;
}

/** An account with rows in many tables. */
async function makeFullAccount(): Promise<TestAccount> {
  const talk = await startFileEngagement(server);
  const { account } = talk;
  await makeWebhook(server, account, { url: 'https://receiver.invalid/' });
  await uploadFile(server, talk, fileForm('kept'));
  const team = await makeTeam(server, account, account.siteId);
  const policy = await makePolicy(server, account);
  const last = await makeQueue(server, account, {
    scheduling_policy_id: policy,
    routing_policy: { team_ids: [team] },
  });
  await makeQueue(server, account, { fallback_queue_id: last });
  await makeApplicationToken(server, account, 'publishable');
  await makeAccessToken(server, account, account.adminId);
  const body = { api_key_id: account.key.id, api_key_secret: account.key.secret };
  expectStatus(await call(server, 'POST /operator_authentication/sessions', { body }), 201);
  const message = `PUT /engagements/${talk.engagement}/chat_messages/${randomUUID()}`;
  expectStatus(await call(server, message, { token: talk.visitor.token, body: { content: 'Hello.' } }), 200);
  return account;
}

test('a deleted account leaves no row and no file, and other accounts lose nothing', async () => {
  const [doomed, other] = [await makeFullAccount(), await makeFullAccount()];
  const [id, otherId] = [await idOf(doomed), await idOf(other)];
  const before = await countRows();
  const files = filesOnDisk(server.dataDir).length;
  const rowsOf = (counts: ReadonlyMap<string, number>, account: string): [string, number][] =>
    [...counts].filter(([name]) => name.startsWith(account));
  assert.ok(rowsOf(before, id).length > 20, `the account has rows in ${rowsOf(before, id).length} tables`);

  await refused(/This deletes everything of account "Test"\. To do it, add: --confirm "Test"\n/, 'delete', id);
  await refused(/is in use\. First run: usher accounts disable [\da-f-]{36}\n/, 'delete', id, '--confirm', 'Test');
  await refused(/There is no account with the id "who"\. usher accounts list prints/, 'delete', 'who');
  await succeed('disable', id);
  await refused(/was disabled a moment ago.*Try again in a minute/, 'delete', id, '--confirm', 'Test');
  assert.deepEqual(rowsOf(await countRows(), id).length, rowsOf(before, id).length);

  await sql`UPDATE accounts SET disabled_at = now() - interval '61 seconds' WHERE id = ${id}`;
  assert.match(await succeed('delete', id, '--confirm', 'Test'), /^Deleted account "Test": [1-9]\d+ rows, 1 file\.\n$/);
  const left = await countRows();
  assert.deepEqual(rowsOf(left, id), []);
  for (const [name, count] of rowsOf(before, otherId))
    assert.ok((left.get(name) ?? 0) >= count, `${name}: ${left.get(name)} of ${count}`);
  assert.equal(filesOnDisk(server.dataDir).length, files - 1);
  assert.doesNotMatch(await succeed('list'), new RegExp(id));
  await until(async () => (await call(second, session, { token: doomed.admin })).status === 401);
  expectStatus(await call(second, session, { token: other.admin }), 200);
  const errors = [...server.logged, ...second.logged].filter((line) => /"level":"(?:error|fatal)"/.test(line));
  assert.deepEqual(errors, []);
});
