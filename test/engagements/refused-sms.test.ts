import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sendOutbound } from '../../packages/server/src/engagements/sms/send-outbound.ts';
import { Refusal } from '../../packages/server/src/platform/errors.ts';
import type { AccountId, OperatorId } from '../../packages/server/src/platform/ids.ts';
import type { Turns } from '../../packages/server/src/routing/turns.ts';
import { openWorld } from '../support/fixture.ts';
import { newNumber } from '../support/services/carrier.ts';

const { server, account } = await openWorld();
const { sql } = server.database;
/** The board refuses a request if the operator waits for a thousand replies. */
const full = { run: async () => Promise.reject(new Refusal('too_many', 'The operator waits for too many replies.')) };

async function counts(): Promise<unknown> {
  const [row] = await sql`
    SELECT (SELECT count(*) FROM visitors) AS visitors, (SELECT count(*) FROM sms_threads) AS threads,
           (SELECT count(*) FROM sms_messages) AS messages`;
  return row;
}

test('a refused request by SMS leaves no visitor, thread or message', async () => {
  const before = await counts();
  const [own] = await sql<{ id: AccountId }[]>`SELECT account_id AS id FROM sites WHERE id = ${account.siteId}`;
  const input = {
    accountId: own?.id ?? assert.fail(),
    siteId: account.siteId,
    operatorId: account.adminId as OperatorId,
    from: newNumber(),
    to: newNumber(),
    body: 'Hello?',
    keyedId: null,
  };
  await assert.rejects(sendOutbound(sql, full as unknown as Turns, input), { code: 'too_many' });
  assert.deepEqual(await counts(), before);
});
