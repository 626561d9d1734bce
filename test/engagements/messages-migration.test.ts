import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { engage, sendText } from '../support/people/chat.ts';
import { forThisFile } from '../support/fixture.ts';
import { call, startTestServer } from '../support/server.ts';
import { expectStatus, makeQueue } from '../support/world.ts';

const server = await forThisFile(startTestServer());

/** The statements of the migration that change rows. The tables of the test already have their new columns. */
const updates = readFileSync('packages/server/migrations/0023_messages_and_files.sql', 'utf8').match(
  /^UPDATE [^;]+;/gm,
);

test('migration 23 recounts chat messages and replaces empty welcome messages by none', async () => {
  const { sql } = server.database;
  const chat = await engage(server);
  const idle = await engage(server);
  for (const content of ['one', 'two']) await sendText(chat, chat.visitor, content);
  const news = { token: chat.own.admin, body: { content: 'News' } };
  expectStatus(await call(server, `POST /engagements/${chat.id}/system_messages`, news), 201);
  const queue = await makeQueue(server, chat.own, { welcome_message: 'Hello' });
  // The state of an earlier version: system messages were counted, and empty texts were stored.
  await sql`UPDATE engagements SET undelivered_to_operator = 3 WHERE id = ${chat.id}`;
  await sql`UPDATE engagements SET undelivered_to_operator = 1 WHERE id = ${idle.id}`;
  const emptied = await makeQueue(server, chat.own);
  await sql`UPDATE queues SET welcome_message = '' WHERE id = ${emptied}`;

  assert.equal(updates?.length, 2);
  for (const update of updates ?? []) await sql.unsafe(update);

  const counts = await sql<{ id: string; count: number }[]>`
    SELECT id, undelivered_to_operator AS count FROM engagements WHERE id IN (${chat.id}, ${idle.id})`;
  assert.deepEqual(
    new Map(counts.map(({ id, count }) => [id, count])),
    new Map([
      [chat.id, 2],
      [idle.id, 0],
    ]),
  );
  const texts = await sql<{ id: string; text: string | null }[]>`
    SELECT id, welcome_message AS text FROM queues WHERE id IN (${queue}, ${emptied})`;
  assert.deepEqual(
    new Map(texts.map(({ id, text }) => [id, text])),
    new Map([
      [queue, 'Hello'],
      [emptied, null],
    ]),
  );
});
