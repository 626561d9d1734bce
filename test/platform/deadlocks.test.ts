import assert from 'node:assert/strict';
import { test } from 'node:test';
import { engage, transcript, type Engaged } from '../support/people/chat.ts';
import { call, startTestServer, until, type Json } from '../support/server.ts';
import { expectStatus } from '../support/world.ts';

/** Triggers that make teams and messages named 'one' or 'two' take two locks in opposite orders, with a pause in between. */
const locks = `
  CREATE TABLE locks (id integer PRIMARY KEY);
  INSERT INTO locks VALUES (1), (2);
  CREATE FUNCTION take_locks() RETURNS trigger LANGUAGE plpgsql AS $$
  DECLARE label text = coalesce(to_jsonb(NEW) ->> 'name', to_jsonb(NEW) ->> 'content');
  BEGIN
    IF label NOT IN ('one', 'two') THEN RETURN NEW; END IF;
    PERFORM 1 FROM locks WHERE id = CASE label WHEN 'one' THEN 1 ELSE 2 END FOR UPDATE;
    PERFORM pg_sleep(0.3);
    PERFORM 1 FROM locks WHERE id = CASE label WHEN 'one' THEN 2 ELSE 1 END FOR UPDATE;
    RETURN NEW;
  END $$;
  CREATE TRIGGER take_locks BEFORE INSERT ON teams FOR EACH ROW EXECUTE FUNCTION take_locks();
  CREATE TRIGGER take_locks BEFORE INSERT ON chat_messages FOR EACH ROW EXECUTE FUNCTION take_locks();`;

test('two requests that deadlock both succeed, and each acts once', async () => {
  await using server = await startTestServer();
  const { sql } = server.database;
  await sql.unsafe(locks);
  const [chat, other] = [await engage(server), await engage(server)];
  const expectDeadlocks = async (count: number): Promise<void> =>
    until(async () => {
      const [row] = await sql`
        SELECT deadlocks::integer AS met FROM pg_stat_database WHERE datname = current_database()`;
      return row?.['met'] >= count;
    });
  // A team locks its site, so the two are created on different sites.
  const create = async (name: 'one' | 'two', headers = {}) => {
    const { admin: token, siteId } = (name === 'one' ? chat : other).own;
    return call(server, 'POST /teams', { token, headers, body: { site_id: siteId, name } });
  };

  // A handler that runs in a transaction with its audit entry.
  for (const answer of await Promise.all([create('one'), create('two')])) expectStatus(answer, 201);
  await expectDeadlocks(1);

  // A handler that runs in the transaction of its Idempotency-Key.
  const keys = [{ 'idempotency-key': 'first' }, { 'idempotency-key': 'second' }] as const;
  const [first] = await Promise.all([create('one', keys[0]), create('two', keys[1])]);
  await expectDeadlocks(2);
  assert.equal((await create('one', keys[0])).body.id, expectStatus(first, 201).body.id);
  assert.equal((await sql`SELECT FROM teams`).length, 4);
  for (const { own } of [chat, other]) {
    const { audit_log: entries } = expectStatus(await call(server, 'GET /audit_log', { token: own.admin }), 200).body;
    assert.equal(entries.filter((entry: Json) => entry.action === 'team.create').length, 2);
  }

  // One statement without a transaction around it. Messages of visitors could be in one batch, and so in one statement.
  const announce = async ({ id, own }: Engaged, content: string) =>
    call(server, `POST /engagements/${id}/system_messages`, { token: own.admin, body: { content } });
  for (const answer of await Promise.all([announce(chat, 'one'), announce(other, 'two')])) expectStatus(answer, 201);
  await expectDeadlocks(3);
  for (const each of [chat, other]) assert.equal((await transcript(each, each.operator)).length, 1);
});
