import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { Keyring, rotateSigningKey } from '../../packages/server/src/identity/signing-keys.ts';
import { Tokens } from '../../packages/server/src/identity/tokens.ts';
import type { OperatorId } from '../../packages/server/src/platform/ids.ts';
import { accountOf, exportFrom, importInto } from '../support/account-move.ts';
import { forThisFile } from '../support/fixture.ts';
import { engage, say, sendText } from '../support/people/chat.ts';
import { urlOf } from '../support/processes/cluster.ts';
import { launch, temporaryDirectory, type UsherProcess } from '../support/processes/process.ts';
import { startReceiver } from '../support/receivers/receiver.ts';
import { makeWebhook } from '../support/receivers/webhooks.ts';
import { call, startTestServer, until, type TestServer } from '../support/server.ts';
import { expectStatus, makeAccount } from '../support/world.ts';

const hookable = { webhookAllowCidrs: ['127.0.0.0/8'], scanner: { kind: 'none' } } as const;
const source = await forThisFile(startTestServer(hookable));
const target = await forThisFile(startTestServer(hookable));
// Both databases are copies of one, with one key.
await rotateSigningKey(source.database.sql, 'revoke');
const folder = temporaryDirectory();
const launched: UsherProcess[] = [];
after(async () => {
  for (const usher of launched) await usher.stop('SIGKILL');
  folder.remove();
});

const type = 'engagement.chat.message';
let files = 0;
const newFile = (): string => join(folder.path, `${(files += 1)}.usher`);
const at = ({ database, dataDir }: TestServer) => ({ address: database.address, dataDir });
const session = 'GET /operator_authentication/sessions/current';

function start(server: TestServer, ...args: string[]): UsherProcess {
  const environment = { DATABASE_URL: urlOf(server.database.address) };
  const usher = launch({ dataDir: server.dataDir, args, environment });
  launched.push(usher);
  return usher;
}

async function succeed(server: TestServer, ...args: string[]): Promise<string> {
  const usher = start(server, ...args);
  await usher.ended();
  assert.deepEqual([usher.child.exitCode, usher.errors], [0, '']);
  return usher.output;
}

async function refused(server: TestServer, line: RegExp, ...args: string[]): Promise<void> {
  const usher = start(server, ...args);
  await usher.ended();
  assert.deepEqual([usher.child.exitCode, usher.output], [1, '']);
  assert.match(usher.errors, line);
}

test('the commands move an account, and say what to do next', async () => {
  const beside = await makeAccount(source);
  const chat = await engage(source);
  const token = chat.own.admin;
  const id = await accountOf(source, chat.own.siteId);
  const file = newFile();
  assert.match(
    await succeed(source, 'accounts', 'export', id, file, '--move'),
    /Exported \d+ rows .*\n.*accounts disable/,
  );
  assert.match(await succeed(source, 'accounts', 'list'), new RegExp(`${id}.*being moved since`));
  // Reads go on, changes are refused in a way that clients repeat.
  expectStatus(await call(source, session, { token }), 200);
  const change = await call(source, `PATCH /sites/${chat.own.siteId}`, { token, body: { name: 'Too late' } });
  assert.deepEqual([change.status, change.body.error], [503, 'account_moving']);
  await refused(source, /is being moved\. .*--stays/, 'accounts', 'enable', id);
  await refused(source, /being moved already/, 'accounts', 'export', id, newFile(), '--move');
  await refused(source, /already has account/, 'accounts', 'import', file);
  await refused(source, /export of one account\. .*accounts import/, 'restore', file);

  assert.match(
    await succeed(target, 'accounts', 'import', file),
    /Imported account "Test": \d+ rows and 0 files\. It was stopped/,
  );
  await refused(target, /already has account "Test"/, 'accounts', 'import', file);
  // The tokens of operators and visitors stay valid, and the conversation goes on.
  expectStatus(await call(target, session, { token }), 200);
  await sendText({ ...chat, server: target }, chat.visitor, 'here now');
  await sendText({ ...chat, server: target }, chat.operator, 'so am I');

  // Disabled, the account no longer fails statements that are about rows of all accounts.
  await succeed(source, 'accounts', 'disable', id);
  const { sql } = source.database;
  const changed = await sql`UPDATE operators SET name = name`;
  assert.ok(changed.count > 0);
  expectStatus(await call(source, session, { token: beside.admin }), 200);
  await sql`UPDATE sites SET name = 'Changed' WHERE account_id = ${id}`;
  const names = await sql<{ name: string }[]>`SELECT name FROM sites WHERE account_id = ${id}`;
  assert.deepEqual(
    names.map(({ name }) => name),
    ['First site'],
  );
  await sql.begin(async (own) => {
    await own`SELECT set_config('usher.passes_fence', 'on', true)`;
    await own`UPDATE accounts SET disabled_at = now() - interval '2 minutes' WHERE id = ${id}`;
  });
  await succeed(source, 'accounts', 'delete', id, '--confirm', 'Test');
  const fences = await sql`SELECT FROM pg_trigger WHERE tgname LIKE ${`fence%${id}`}`;
  assert.equal(fences.length, 0);
});

test('what is being sent is answered before the account is exported, and is not sent again', async () => {
  const receiver = await startReceiver();
  const chat = await engage(source);
  const id = await accountOf(source, chat.own.siteId);
  await makeWebhook(source, chat.own, { url: receiver.url, events: [type] });
  const answers: (() => void)[] = [];
  receiver.answer = () => (_request, response) => void answers.push(() => response.writeHead(200).end());
  await sendText(chat, chat.visitor, 'in flight');
  await until(() => answers.length === 1);
  const file = newFile();
  let isExported = false;
  const exporting = exportFrom(at(source), { id, file }).then(() => (isExported = true));
  const { sql } = source.database;
  await until(async () => (await sql`SELECT FROM accounts WHERE id = ${id} AND moving_at IS NOT NULL`).length === 1);
  // People work on meanwhile, and what they do waits for the other installation.
  await sendText(chat, chat.visitor, 'held');
  assert.equal(isExported, false);
  answers[0]?.();
  await exporting;
  assert.equal(answers.length, 1);
  receiver.answer = () => 200;
  await importInto(at(target), file);
  await until(() => receiver.arrived.length === 2);
  assert.deepEqual(
    receiver.ofType(type).map(({ message }) => message.content),
    ['in flight', 'held'],
  );
  await receiver.close();
});

test('an interrupted export leaves the account as it was, and after a kill it can be taken back', async () => {
  const receiver = await startReceiver();
  const chat = await engage(source);
  const id = await accountOf(source, chat.own.siteId);
  await makeWebhook(source, chat.own, { url: receiver.url, events: [type] });
  // The receiver never answers, so the export waits.
  receiver.answer = () => () => undefined;
  await sendText(chat, chat.visitor, 'unanswered');
  await until(() => receiver.arrived.length === 1);
  const isMoving = async () =>
    (await source.database.sql`SELECT FROM accounts WHERE id = ${id} AND moving_at IS NOT NULL`).length === 1;

  const interrupted = start(source, 'accounts', 'export', id, newFile(), '--move');
  await until(isMoving);
  interrupted.child.kill('SIGINT');
  await interrupted.ended();
  assert.match(interrupted.errors, /Interrupted\. The account was not exported, and goes on here\./);
  assert.equal(await isMoving(), false);

  const killed = start(source, 'accounts', 'export', id, newFile(), '--move');
  await until(isMoving);
  await killed.stop('SIGKILL');
  await source.database.sql`UPDATE accounts SET moving_at = now() - interval '11 minutes' WHERE id = ${id}`;
  const doctor = start(source, 'doctor');
  await doctor.ended();
  assert.match(doctor.output, new RegExp(`moved account: .*has been stopped since .*accounts enable ${id} --stays`));
  await succeed(source, 'accounts', 'enable', id, '--stays');
  assert.equal(await isMoving(), false);
  expectStatus(await say(chat, chat.visitor, 'still here'), 200);
  await receiver.close();
});

test('a damaged export changes nothing, and a copy leaves the account in use', async () => {
  const own = await makeAccount(source);
  const id = await accountOf(source, own.siteId);
  const file = newFile();
  await exportFrom(at(source), { id, file, what: { part: 'copy' } });
  const body = { name: 'Changed afterwards' };
  expectStatus(await call(source, `PATCH /sites/${own.siteId}`, { token: own.admin, body }), 200);
  const bytes = readFileSync(file);
  const cut = newFile();
  writeFileSync(cut, bytes.subarray(0, bytes.length - 5));
  await refused(target, /not a complete backup/, 'accounts', 'import', cut);
  await assert.rejects(importInto(at(target), cut), /not a complete backup/);
  assert.equal((await target.database.sql`SELECT FROM accounts WHERE id = ${id}`).length, 0);
  await importInto(at(target), file);
  assert.equal((await target.database.sql`SELECT FROM accounts WHERE id = ${id}`).length, 1);
});

test('a file with a row of another account is refused', async () => {
  const own = await makeAccount(source);
  const other = await makeAccount(target);
  const [id, otherId] = [await accountOf(source, own.siteId), await accountOf(target, other.siteId)];
  const { sql } = source.database;
  // A visitor of the account's site who names another account, as a forged file could.
  await sql`INSERT INTO visitors (id, account_id, site_id) VALUES (gen_random_uuid(), ${id}, ${own.siteId})`;
  await sql.begin(async (forging) => {
    await forging`SET LOCAL session_replication_role = replica`;
    await forging`UPDATE visitors SET account_id = ${otherId} WHERE site_id = ${own.siteId}`;
  });
  const file = newFile();
  await exportFrom(at(source), { id, file, what: { part: 'copy' } });
  await assert.rejects(importInto(at(target), file), /rows of another account \(visitors\)/);
  assert.equal((await target.database.sql`SELECT FROM accounts WHERE id = ${id}`).length, 0);
});

test('the installation that an account came from vouches for callers of that account only', async () => {
  const moved = await makeAccount(source);
  const victim = await makeAccount(target);
  const id = await accountOf(source, moved.siteId);
  const file = newFile();
  await exportFrom(at(source), { id, file });
  await importInto(at(target), file);
  // Every process learns of the import a moment after it.
  await until(async () => (await call(target, session, { token: moved.admin })).status === 200);
  const tokens = new Tokens(new Keyring(source.database.sql, source.changes));
  const forged = async (accountId: typeof id): Promise<string> =>
    tokens.signOperator({
      accountId,
      operatorId: victim.adminId as OperatorId,
      by: { key: victim.key.id },
      sites: null,
    });
  const victimAccount = await accountOf(target, victim.siteId);
  for (const accountId of [victimAccount, id]) {
    const answer = await call(target, session, { token: await forged(accountId) });
    assert.equal(answer.status, 401);
  }
  // Revoking tokens also revokes those of the other installation.
  await rotateSigningKey(target.database.sql, 'revoke');
  await until(async () => (await call(target, session, { token: moved.admin })).status === 401);
});
