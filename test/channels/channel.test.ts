import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, test } from 'node:test';
import { Hints } from '../../packages/server/src/events/hints.ts';
import { createAccount, newKey } from '../../packages/server/src/identity/accounts.ts';
import { Sealer } from '../../packages/server/src/identity/sealer.ts';
import { AddressGuard } from '../../packages/server/src/platform/outbound/address-guard.ts';
import { openRowChanges } from '../../packages/server/src/platform/database/row-changes.ts';
import { ClockWatch } from '../../packages/server/src/platform/clock/clock-watch.ts';
import { openDatabase } from '../../packages/server/src/platform/database/database.ts';
import { DatabaseSession } from '../../packages/server/src/platform/database/database-session.ts';
import { createLog } from '../../packages/server/src/platform/log.ts';
import { NameResolver } from '../../packages/server/src/platform/outbound/names/name-resolver.ts';
import type { Attempt } from '../../packages/server/src/channels/attempt.ts';
import type { Channel } from '../../packages/server/src/channels/channel.ts';
import { OpenChannels } from '../../packages/server/src/channels/open-channels.ts';
import { Transport } from '../../packages/server/src/webhooks/dispatcher/transport.ts';
import { Dispatcher } from '../../packages/server/src/webhooks/dispatcher/dispatcher.ts';
import { WebhookCache } from '../../packages/server/src/webhooks/dispatcher/reading/webhook-cache.ts';
import { cloneDatabase } from '../support/database/database.ts';
import { insertDeliveries, insertWebhook } from '../support/receivers/deliveries.ts';
import { until } from '../support/server.ts';

const delivered: Attempt = {
  verdict: 'delivered',
  unavailable: false,
  status: null,
  answer: null,
  error: null,
  durationMs: 0,
  retryAfterMs: null,
};

/** A minimal channel: it stores what it is sent, and fails as often as the test says. */
class ListChannel implements Channel {
  readonly kind = 'list';
  readonly schemes = ['list'];
  readonly urlName = 'a list URL';
  readonly urlForm = 'list://<name>';
  readonly isAttachable = false;
  readonly fields = {};
  readonly requiredFields = [];
  readonly unsigned = 'A list has no signatures.';
  readonly endsBecause = 'gone';
  readonly list: string[] = [];
  failures = 0;

  urlFaults = () => [];
  violations = () => [];
  originOf = (url: string) => new URL(url).href;
  addressOf = () => null;

  open() {
    const send = async ({ id }: { readonly id: string }): Promise<Attempt> => {
      this.failures -= 1;
      if (this.failures >= 0) return { ...delivered, verdict: 'failed', error: 'the list is full' };
      this.list.push(id);
      return delivered;
    };
    return { senderFor: () => send, closeDestination: () => undefined, close: () => undefined };
  }
}

test('the dispatcher delivers to a new channel in order, with retries, without any change', async () => {
  const channel = new ListChannel();
  const database = openDatabase(await cloneDatabase(), 4);
  const { sql } = database;
  const log = createLog('silent');
  const changes = await openRowChanges(database.address);
  const session = await DatabaseSession.open(database.address);
  const clock = await ClockWatch.start(session.sql, log);
  const names = new NameResolver();
  const sealer = new Sealer(sql);
  const guard = new AddressGuard([], names);
  const guards = { registered: guard, attached: guard };
  const settings = { apns: null };
  const channels = new OpenChannels([channel], { settings, sql, sealer, guards, lookup: names.lookupFor('test') });
  const dispatcher = new Dispatcher({
    sql,
    hints: new Hints(sql, changes, log),
    rowChanges: changes,
    session,
    clock,
    log,
    webhookCache: new WebhookCache({ sql, sealer, changes, channels }),
    transport: new Transport({ sql, sealer, names, channels }),
    watch: {
      outcome: () => undefined,
      batch: () => undefined,
      oldestDue: () => undefined,
      leaseLost: () => undefined,
      roundFailed: () => undefined,
    },
  });
  after(async () => {
    await dispatcher.stop();
    clock.stop();
    await session.close();
    await changes.close();
    await database.close(1_000);
  });
  const { siteId } = await createAccount(sql, { accountName: 'Test', email: 'admin@test', key: newKey() });
  const [{ adminId } = assert.fail()] = await sql<{ adminId: string }[]>`SELECT id AS "adminId" FROM operators`;
  const webhook = await insertWebhook(
    { database },
    { admin: '', adminId, key: newKey(), siteId },
    { origin: 'list://mine' },
  );
  channel.failures = 1;
  await insertDeliveries(sql, webhook, 'fresh', { count: 20, engagementId: randomUUID() });
  const due = await sql<{ id: string }[]>`SELECT event_id AS id FROM deliveries ORDER BY event_seq`;
  await until(async () => {
    await sql`UPDATE deliveries SET due_at = now() WHERE due_at > now()`;
    return channel.list.length === 20;
  });
  assert.deepEqual(
    channel.list,
    due.map(({ id }) => id),
  );
  await until(async () => (await sql`SELECT 1 FROM delivery_log WHERE state = 'delivered'`).length === 20);
  const [failed] = await sql`SELECT error FROM delivery_log WHERE state = 'retrying'`;
  assert.equal(failed?.['error'], 'the list is full');
});
