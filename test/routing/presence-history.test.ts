import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Config } from '../../packages/server/src/config.ts';
import { startHousekeeping } from '../../packages/server/src/housekeeping.ts';
import type { AccountId } from '../../packages/server/src/platform/ids.ts';
import { createLog } from '../../packages/server/src/platform/log.ts';
import { moveTimes } from '../../packages/server/src/routing/move-times.ts';
import { forThisFile } from '../support/fixture.ts';
import { intervalsOf, nextInstant, intervalSummaries } from '../support/people/presence.ts';
import { call, startTestServer, until, type Json } from '../support/server.ts';
import {
  expectStatus,
  makeAccount,
  makeOperator,
  makeAvailableOperator,
  setPresence,
  type TestAccount,
  type TestOperator,
} from '../support/world.ts';

const server = await forThisFile(startTestServer());

interface Yesterday {
  readonly own: TestAccount;
  readonly operator: TestOperator;
  readonly accountId: AccountId;
  /** From this time on the operator takes the medium; `null`: they are away. */
  readonly take: (medium: string | null, at: string) => Promise<void>;
  /** The seconds by type in the statistic. */
  readonly seconds: (from: string, to: string) => Promise<Record<string, number>>;
}

/** An operator whose presence of yesterday is written as a turn writes it. Times are times of day in UTC. */
async function yesterday(): Promise<Yesterday> {
  const own = await makeAccount(server);
  const operator = await makeOperator(server, own, [{ site_id: own.siteId, role: 'operator' }]);
  const { sql } = server.database;
  const [account] = await sql<{ id: AccountId }[]>`SELECT account_id AS id FROM operators WHERE id = ${operator.id}`;
  assert.ok(account !== undefined);
  const day = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);
  const take = async (medium: string | null, at: string): Promise<void> => {
    await sql.begin(async (turn) => {
      await turn`SELECT set_config('usher.turn', 'on', true)`;
      await turn`
        UPDATE operators SET available = ${medium !== null}, media = ${[medium ?? 'text']}, presence_set_at = now()
         WHERE id = ${operator.id}`;
      const changed = JSON.stringify([{ operator_id: operator.id, engaged: false, lapsed_at: null }]);
      await turn`SELECT keep_presence(${`${day}T${at}Z`}, ${changed}::text::json)`;
    });
  };
  const seconds = async (from: string, to: string): Promise<Record<string, number>> => {
    const body = { start_date: `${day}T${from}Z`, end_date: `${day}T${to}Z`, dimensions: ['type'] };
    const answer = await call(server, 'POST /operators/stats/online_duration', { token: own.admin, body });
    return Object.fromEntries(expectStatus(answer, 200).body.map((row: Json) => [row.type, row.seconds]));
  };
  return { own, operator, accountId: account.id, take, seconds };
}

test('no time is lost when an earlier change is written after a later one', async () => {
  const { take, seconds } = await yesterday();
  await take('text', '10:00:05');
  await take('audio', '10:00:00');
  await take(null, '11:00:00');
  assert.deepEqual(await seconds('10:30:00', '10:45:00'), { audio: 900 });
  assert.deepEqual(await seconds('09:00:00', '11:00:00'), { audio: 3_595 });
});

test('when the clock is set back, the current interval keeps its length and no duration is negative', async () => {
  const own = await makeAccount(server);
  const operator = await makeAvailableOperator(server, own, { expires_in_sec: 86_400 });
  await nextInstant();
  await setPresence(server, operator, { available: false, reason: 'Lunch', expires_in_sec: 86_400 });
  const { sql } = server.database;
  const [account] = await sql<{ id: AccountId; version: number }[]>`
    SELECT a.id, a.board_version::float8 AS version
      FROM accounts a JOIN operators o ON o.account_id = a.id WHERE o.id = ${operator.id}`;
  assert.ok(account !== undefined);
  const [, before] = await intervalsOf(server, operator.id);
  const hour = 3_600_000;
  await moveTimes(sql, { accountId: account.id, byMs: -hour, shiftMs: 0, version: account.version + 1 });
  const moved = (await intervalsOf(server, operator.id)).find(({ ended_at }) => ended_at === null);
  assert.equal((before?.started_at.getTime() ?? 0) - (moved?.started_at.getTime() ?? 0), hour);
  // An interval that begins in the future, because the clock was wrong, ends when it began.
  await sql`UPDATE presence_intervals SET started_at = now() + interval '1 hour' WHERE operator_id = ${operator.id} AND ended_at IS NULL`;
  await setPresence(server, operator);
  const [row] = await sql<{ negative: number; open: number }[]>`
    SELECT count(*) FILTER (WHERE ended_at < started_at)::integer AS negative, count(*) FILTER (WHERE ended_at IS NULL)::integer AS open
      FROM presence_intervals WHERE operator_id = ${operator.id}`;
  assert.deepEqual({ ...row }, { negative: 0, open: 1 });
});

test('when the clock is set back, any range finds the time before and after', async () => {
  const { take, seconds, own, operator, accountId } = await yesterday();
  await take('text', '09:30:00');
  await take('audio', '10:00:00');
  const { sql } = server.database;
  const [account] = await sql<{ version: number }[]>`
    SELECT board_version::float8 AS version FROM accounts WHERE id = ${accountId}`;
  await moveTimes(sql, { accountId, byMs: -3_600_000, shiftMs: 0, version: (account?.version ?? 0) + 1 });
  // By the new clock, the current interval began at nine, before an interval that has ended.
  assert.deepEqual(await seconds('11:00:00', '11:30:00'), { audio: 1_800 });
  await take('video', '09:20:00');
  await take('audio', '09:50:00');
  await take(null, '13:00:00');
  assert.deepEqual(await seconds('09:05:00', '09:15:00'), { audio: 600 });
  assert.deepEqual(await seconds('09:40:00', '09:50:00'), { chat: 600, video: 600 });
  assert.deepEqual(await seconds('09:55:00', '10:05:00'), { chat: 300, audio: 600 });
  assert.deepEqual(await seconds('11:00:00', '11:30:00'), { audio: 1_800 });
  const whole = { chat: 1_800, video: 1_800, audio: 1_200 + 11_400 };
  assert.deepEqual(await seconds('08:00:00', '13:00:00'), whole);
  const day = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);
  const path = `GET /operators/presence_intervals?site_ids[]=${own.siteId}&operator_ids[]=${operator.id}&from=${day}T09:55:00Z&to=${day}T10:05:00Z`;
  const shown = expectStatus(await call(server, path, { token: own.admin }), 200).body.presence_intervals;
  assert.deepEqual(shown.map(({ type }: Json) => type), ['chat', 'audio']); // prettier-ignore
});

test('ended intervals are kept for 400 days, independent of the retention of events; the current one is never deleted', async () => {
  const own = await makeAccount(server);
  const operator = await makeAvailableOperator(server, own);
  await nextInstant();
  await setPresence(server, operator, { available: false });
  const { sql } = server.database;
  const age = async (days: number): Promise<void> => {
    await sql`
      UPDATE presence_intervals
         SET started_at = started_at - make_interval(days => ${days}), ended_at = ended_at - make_interval(days => ${days})
       WHERE operator_id = ${operator.id}`;
  };
  const sweep = async (settings: Partial<Config>): Promise<void> => {
    // Housekeeping deletes unused destinations after the intervals.
    const [last] = await sql`
      INSERT INTO destinations (id, account_id, origin, wanted_at)
      SELECT gen_random_uuid(), account_id, 'https://gone.example', now() - interval '1 year'
        FROM operators WHERE id = ${operator.id}
      RETURNING id`;
    await using other = await startTestServer(settings, server.database.address);
    const now = new Date();
    const stop = startHousekeeping({
      sweeps: other.sweeps,
      clock: { sweepTime: async () => ({ mayDelete: true, now, steadyNow: now }), onStep: () => undefined },
      log: createLog('silent'),
    });
    await until(async () => (await sql`SELECT FROM destinations WHERE id = ${last?.['id']}`).length === 0);
    stop();
  };
  await age(399);
  await sweep({ eventRetentionDays: 7 });
  assert.deepEqual(await intervalSummaries(server, operator.id), ['text+phone+audio+video', 'away…']);
  await age(2);
  await sweep({ presenceRetentionDays: 402 });
  assert.deepEqual(await intervalSummaries(server, operator.id), ['text+phone+audio+video', 'away…']);
  await sweep({});
  assert.deepEqual(await intervalSummaries(server, operator.id), ['away…']);
});
