import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, test } from 'node:test';
import type { DatabaseAddress, Sql } from '../../packages/server/src/platform/database/database.ts';
import { rotateSigningKey } from '../../packages/server/src/identity/signing-keys.ts';
import { accountOf, exportFrom, importInto } from '../support/account-move.ts';
import { withSql } from '../support/database/backup.ts';
import { forThisFile } from '../support/fixture.ts';
import { end, engage, sendText, transcript, type Engaged } from '../support/people/chat.ts';
import { urlOf } from '../support/processes/cluster.ts';
import { launch, temporaryDirectory } from '../support/processes/process.ts';
import { call, startTestServer, until, type TestServer } from '../support/server.ts';
import { acceptOffer, expectStatus, requestTicket } from '../support/world.ts';

const source = await forThisFile(startTestServer());
const target = await forThisFile(startTestServer());
await rotateSigningKey(source.database.sql, 'revoke');
const folder = temporaryDirectory();
after(() => folder.remove());
const at = ({ database, dataDir }: TestServer) => ({ address: database.address, dataDir });
const [historyFile, restFile] = [join(folder.path, 'history.usher'), join(folder.path, 'rest.usher')];

/** A conversation that ended long ago, and one that goes on. */
async function oldAndNew(): Promise<{ readonly old: Engaged; readonly current: Engaged }> {
  const old = await engage(source);
  await sendText(old, old.visitor, 'long ago');
  await end(old);
  const { sql } = source.database;
  await sql`UPDATE engagements SET started_at = started_at - interval '2 hours', ended_at = ended_at - interval '2 hours' WHERE id = ${old.id}`;
  await sql`UPDATE events SET occurred_at = occurred_at - interval '2 hours' WHERE engagement_id = ${old.id}`;
  const ticket = await requestTicket(source, old.own, { queue_ids: [old.queue] });
  expectStatus(ticket, 201);
  const current = { ...old, visitor: ticket.visitor, id: await acceptOffer(source, old.operator) };
  await sendText(current, current.visitor, 'just now');
  return { old, current };
}

/** Rows of the account by table. */
async function countRows(address: DatabaseAddress, id: string): Promise<Record<string, number>> {
  return withSql(address, async (sql) => {
    const counts: Record<string, number> = {};
    for (const table of [
      'audit_log',
      'chat_messages',
      'delivery_log',
      'engagements',
      'events',
      'visitors',
      'queue_tickets',
    ])
      counts[table] = await count(sql, table, id);
    return counts;
  });
}

async function count(sql: Sql, table: string, id: string): Promise<number> {
  const [row] = await sql<
    { rows: number }[]
  >`SELECT count(*)::integer AS rows FROM ${sql(table)} WHERE account_id = ${id}`;
  return row?.rows ?? 0;
}

test('the history is copied before the move, and the rest completes it', async () => {
  const { old, current } = await oldAndNew();
  const id = await accountOf(source, old.own.siteId);
  const { boundary } = await exportFrom(at(source), { id, file: historyFile, what: { part: 'history' } });
  assert.ok(boundary !== null);
  const history = await importInto(at(target), historyFile);
  assert.equal(history.awayMs, null);
  const there = await countRows(target.database.address, id);
  assert.equal(there['chat_messages'], 1);
  assert.ok((there['events'] ?? 0) > 0);
  assert.equal(there['engagements'], 0);
  // Nobody can use it yet, and the conversation goes on here.
  const session = 'GET /operator_authentication/sessions/current';
  assert.equal((await call(target, session, { token: old.own.admin })).status, 401);
  await sendText(current, current.operator, 'meanwhile');

  await exportFrom(at(source), { id, file: restFile, what: { part: 'rest', boundary } });
  await importInto(at(target), restFile);
  assert.deepEqual(await countRows(target.database.address, id), await countRows(source.database.address, id));
  await until(async () => (await call(target, session, { token: old.own.admin })).status === 200);
  const contents = async (chat: Engaged) =>
    (await transcript({ ...chat, server: target }, old.operator)).map(({ content }) => content).filter(Boolean);
  assert.deepEqual([await contents(old), await contents(current)], [['long ago'], ['just now', 'meanwhile']]);
});

test('a rest without its history is refused, and a history that is not needed is deleted', async () => {
  const { old } = await oldAndNew();
  const id = await accountOf(source, old.own.siteId);
  const [history, rest] = [join(folder.path, 'other.usher'), join(folder.path, 'other-rest.usher')];
  const { boundary } = await exportFrom(at(source), { id, file: history, what: { part: 'history' } });
  assert.ok(boundary !== null);
  await exportFrom(at(source), { id, file: rest, what: { part: 'rest', boundary: boundary + 1 } });
  await assert.rejects(importInto(at(target), rest), /Import that history first/);
  await importInto(at(target), history);
  await assert.rejects(importInto(at(target), history), /already has account/);
  await assert.rejects(importInto(at(target), rest), /Import that history first/);

  const { sql } = target.database;
  await sql`UPDATE accounts SET disabled_at = now() - interval '2 minutes' WHERE id = ${id}`;
  const usher = launch({
    dataDir: target.dataDir,
    args: ['accounts', 'delete', id, '--confirm', 'moved'],
    environment: { DATABASE_URL: urlOf(target.database.address) },
  });
  await usher.ended();
  assert.deepEqual([usher.child.exitCode, usher.errors], [0, '']);
  const left = await countRows(target.database.address, id);
  assert.deepEqual(
    Object.values(left).filter((rows) => rows > 0),
    [],
  );
});
