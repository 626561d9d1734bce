import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { test } from 'node:test';
import type { EventType } from '../../packages/server/src/events/catalogue.ts';
import type { AccountId } from '../../packages/server/src/platform/ids.ts';

/**
 * How to add an event type: declare it in `events/catalogue.ts`, and append it where it happens. This test does both and
 * nothing else. It puts the declaration into the catalogue's source while Node loads it, as if it had been written there.
 */
const declaration = `
  'parcel.ship': event({
    title: 'ParcelShipEvent',
    trigger: 'A parcel is shipped',
    fields: { parcel: body({ id, weight_kg: Type.Integer(), carrier: nullable(Type.String()) }) },
    sample: { parcel: { id: sample.ids.message, weight_kg: 3, carrier: null } },
  }),`;
const catalogueStart = 'export const catalogue = {';

registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context);
    if (!url.endsWith('/events/catalogue.ts')) return loaded;
    const source = readFileSync(new URL(url), 'utf8');
    assert.ok(source.includes(catalogueStart));
    return { ...loaded, source: source.replace(catalogueStart, catalogueStart + declaration) };
  },
});

const { appendEvent } = await import('../../packages/server/src/events/append.ts');
const { inTransaction } = await import('../../packages/server/src/platform/database/database.ts');
const { openFeed } = await import('../support/people/feed.ts');
const { forThisFile, openWorld } = await import('../support/fixture.ts');
const { startReceiver } = await import('../support/receivers/receiver.ts');
const { call, until } = await import('../support/server.ts');
const { makeWebhook } = await import('../support/receivers/webhooks.ts');

const { server, account } = await openWorld();
const receiver = await forThisFile(startReceiver());
const type = 'parcel.ship';

/** Appends the event, as the code that ships a parcel would. The compiler does not know the type. */
async function ship(parcel: object): Promise<void> {
  const { siteId } = account;
  await inTransaction(server.database.sql, async (sql) => {
    const [site] = await sql<
      { accountId: AccountId }[]
    >`SELECT account_id AS "accountId" FROM sites WHERE id = ${siteId}`;
    assert.ok(site);
    await appendEvent(sql, { ...site, type: type as EventType, about: { siteId }, fields: { parcel } as never });
  });
}

test('a type that is declared in the catalogue is documented, validated, logged, delivered and shown on the live feed', async () => {
  const { body: api } = await call(server, 'GET /openapi.json');
  assert.equal(api.webhooks[type].post.summary, 'A parcel is shipped');
  const { body: listed } = await call(server, 'GET /event_types', { token: account.admin });
  const { sample } = listed.event_types.find((each: { event_type: string }) => each.event_type === type);
  assert.deepEqual([sample.event_type, sample.parcel.weight_kg], [type, 3]);

  await makeWebhook(server, account, { url: receiver.url, events: [type] });
  await using feed = await openFeed(server, { token: account.admin });
  const id = randomUUID();
  await assert.rejects(
    ship({ id, weight_kg: 'heavy', carrier: null }),
    /parcel\.ship does not fit its schema: \/parcel\/weight_kg must be integer/,
  );
  await ship({ carrier: 'Snail', weight_kg: 2, id });

  await until(() => receiver.ofType(type).length > 0);
  const [sent] = receiver.ofType(type);
  assert.equal(
    JSON.stringify(sent.parcel),
    `{"id":"${id}","weight_kg":2,"carrier":"Snail"}`,
    'in the order of the schema',
  );
  const shown = await feed.untilType(type);
  assert.deepEqual(shown.data, sent);
  const log = await call(server, `GET /events?event_type[]=${type}`, { token: account.admin });
  assert.deepEqual(
    log.body.events.map(({ event }: { event: unknown }) => event),
    [sent],
  );
});
