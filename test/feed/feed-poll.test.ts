import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { connect, type Sql } from '../../packages/server/src/platform/database/database.ts';
import type { AccountId } from '../../packages/server/src/platform/ids.ts';
import { readPosition, readQuietAccounts } from '../../packages/server/src/feed/log.ts';
import { isMessage, openFeed } from '../support/people/feed.ts';
import { engage, type Engaged } from '../support/people/chat.ts';
import { forThisFile } from '../support/fixture.ts';
import { startTestServer } from '../support/server.ts';

const server = await forThisFile(startTestServer());
const { sql } = server.database;

async function accountOf({ id }: Engaged): Promise<AccountId> {
  const [row = assert.fail()] = await sql<{ id: AccountId }[]>`
    SELECT account_id AS id FROM engagements WHERE id = ${id}`;
  return row.id;
}

/** Appends the event of a message. No hint is sent, as if it were lost. */
async function appendMessage(by: Sql, { own, id, visitor, operator }: Engaged, content: string): Promise<void> {
  await by`
    INSERT INTO events (account_id, id, type, site_id, engagement_id, visitor_id, operator_id, occurred_at, payload)
    SELECT account_id, ${randomUUID()}, 'engagement.chat.message', ${own.siteId}, ${id}, ${visitor.id}, ${operator.id}, now(),
           ${JSON.stringify({ message: { content } })}::text::json
      FROM engagements WHERE id = ${id}`;
}

test('the poll finds the accounts with new events or moves, and skips no transaction that commits late', async () => {
  const [quiet, spoken, moved, late] = [
    await engage(server),
    await engage(server),
    await engage(server),
    await engage(server),
  ];
  const chats = [quiet, spoken, moved, late];
  const accounts = await Promise.all(chats.map(accountOf));
  const [quietId = assert.fail(), , movedId = assert.fail(), lateId = assert.fail()] = accounts;
  const positions = await Promise.all(
    accounts.map(async (accountId) => ({ accountId, position: await readPosition(sql, accountId) })),
  );
  const slow = connect(server.database.address, { max: 1 });
  try {
    await slow.begin(async (held) => {
      await appendMessage(held, late, 'late');
      await appendMessage(sql, spoken, 'at once');
      await sql`UPDATE accounts SET board_version = board_version + 1 WHERE id = ${movedId}`;

      const found = await readQuietAccounts(sql, positions);
      assert.deepEqual([...found.keys()].toSorted(), [quietId, lateId].toSorted());
      // From now on the poll asks with the new positions.
      for (const each of positions) each.position = found.get(each.accountId) ?? each.position;
    });
    const found = await readQuietAccounts(sql, positions);
    assert.deepEqual([...found.keys()], [quietId]);
  } finally {
    await slow.end();
  }
});

test('feeds of several accounts are sent events whose hints were lost', async () => {
  const chats = [await engage(server), await engage(server), await engage(server)];
  await using scope = new AsyncDisposableStack();
  const feeds = [];
  for (const { operator } of chats) feeds.push(scope.use(await openFeed(server, { token: operator.token })));
  for (const [n, chat] of chats.entries()) await appendMessage(sql, chat, `message ${n}`);
  for (const [n, feed] of feeds.entries()) await feed.until(isMessage(`message ${n}`));
});
