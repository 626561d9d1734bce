import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { createUsher, UsherError, UsherUnreachable } from '@usher/sdk';
import { sdkFiles } from '../../scripts/sdk.ts';
import { openWorld } from '../support/fixture.ts';
import { queueFields } from '../support/world.ts';

const { server, account } = await openWorld();
const { key, siteId } = account;
const usher = createUsher({ url: server.url, key });

const newQueue = (name: string) => ({
  site_id: siteId,
  ...queueFields,
  name,
  capacity_policy: { type: 'fixed', capacity: 10 } as const,
});

/** A `fetch` that counts requests by method and path, and decides what becomes of each: `lost` after the server has handled it. */
function watchedFetch(fate: (request: string, count: number) => 'lost' | 'refused' | 'answered' = () => 'answered') {
  const requests: string[] = [];
  const watched: typeof fetch = async (url, init) => {
    const request = `${init?.method ?? 'GET'} ${new URL(url as string).pathname}`;
    requests.push(request);
    const decided = fate(request, requests.filter((each) => each === request).length);
    if (decided === 'refused') return new Response('<h1>Bad gateway</h1>', { status: 502 });
    const response = await fetch(url, init);
    if (decided === 'answered') return response;
    await response.body?.cancel();
    throw new TypeError('the connection was cut');
  };
  return { fetch: watched, requests };
}

test('the generated files of the SDK are current', () => {
  for (const [name, text] of sdkFiles())
    assert.equal(readFileSync(`packages/sdk/src/${name}`, 'utf8'), text, `${name} is outdated: run npm run openapi`);
});

test('a list is its first page, and iterates over the items of all pages', async () => {
  const names = ['One', 'Two', 'Three', 'Four', 'Five'];
  for (const name of names) await usher.queues.create({ body: newQueue(name) });
  const first = await usher.queues.list({ siteIds: [siteId], perPage: 2 });
  assert.equal(first.queues.length, 2);
  const seen: string[] = [];
  for await (const queue of usher.queues.list({ siteIds: [siteId], perPage: 2 })) seen.push(queue.name);
  assert.deepEqual(seen.toSorted(), names.toSorted());
  // A search has the token of its next page in the body.
  for await (const engagement of usher.engagements.search({ body: { site_ids: [siteId] } })) assert.fail(engagement.id);
});

test('a change that names an old version is refused with the code and the current version', async () => {
  const { id } = await usher.queues.create({ body: newQueue('Versions') });
  const { data, etag } = await usher.queues.get({ queueId: id }).withResponse();
  assert.equal(data.name, 'Versions');
  assert.ok(etag !== null);
  await usher.queues.update({ queueId: id, body: newQueue('Second') }, { ifMatch: etag });
  await assert.rejects(
    usher.queues.update({ queueId: id, body: newQueue('Third') }, { ifMatch: etag }),
    (error) =>
      error instanceof UsherError &&
      error.code === 'precondition_failed' &&
      error.etag !== etag &&
      error.requestId !== null,
  );
});

test('a refusal names the invalid fields, and a missing part of the path is named before anything is sent', async () => {
  const body = newQueue('');
  await assert.rejects(
    async () => usher.queues.create({ body }),
    (error) => error instanceof UsherError && error.status === 422 && error.field('name') !== undefined,
  );
  assert.throws(() => usher.queues.get({ queueId: '' }), /queueId is missing/);
});

test('concurrent requests share one sign-in, and a revoked token is replaced', async () => {
  const { fetch: watched, requests } = watchedFetch();
  const signedIn = (): number => requests.filter((each) => each === 'POST /operator_authentication/tokens').length;
  const client = createUsher({ url: server.url, key, fetch: watched });
  await Promise.all(Array.from({ length: 5 }, async () => client.sites.list()));
  assert.equal(signedIn(), 1);
  await client.sessions.deleteCurrent();
  await Promise.all(Array.from({ length: 5 }, async () => client.sites.list()));
  assert.equal(signedIn(), 2);
  const wrong = createUsher({ url: server.url, key: { ...key, secret: 'wrong' } });
  await assert.rejects(async () => wrong.sites.list(), { name: 'UsherError', code: 'invalid_credentials' });
});

test('a provided header is asked for again after a 401', async () => {
  const headers = ['Bearer outdated', `Bearer ${account.admin}`];
  let current = 0;
  const client = createUsher({ url: server.url, authorization: () => headers[Math.min(current++, 1)] ?? '' });
  assert.equal((await client.sites.list()).sites.length, 1);
});

test('a POST whose answer is lost is repeated and has one effect', async () => {
  const { fetch: watched, requests } = watchedFetch((request, count) =>
    request === 'POST /queues' && count < 3 ? (count === 1 ? 'lost' : 'refused') : 'answered',
  );
  const client = createUsher({ url: server.url, key, fetch: watched });
  const { data, headers } = await client.queues.create({ body: newQueue('Once') }).withResponse();
  assert.equal(headers.get('idempotency-replayed'), 'true');
  assert.equal(requests.filter((each) => each === 'POST /queues').length, 3);
  const same: string[] = [];
  for await (const { id, name } of client.queues.list({ siteIds: [siteId] })) if (name === 'Once') same.push(id);
  assert.deepEqual(same, [data.id]);
});

test('a PATCH whose answer is lost, and a PUT that names a version, are not repeated', async () => {
  const { id } = await usher.queues.create({ body: newQueue('Lost') });
  const { fetch: watched, requests } = watchedFetch((request) => (/^P(?:ATCH|UT)/.test(request) ? 'lost' : 'answered'));
  const client = createUsher({ url: server.url, key, fetch: watched });
  await assert.rejects(async () => client.sites.update({ siteId, body: { name: 'Renamed' } }), UsherUnreachable);
  await assert.rejects(
    async () => client.queues.update({ queueId: id, body: newQueue('Lost') }, { ifMatch: '*' }),
    UsherUnreachable,
  );
  assert.equal(requests.filter((each) => each.startsWith('P') && !each.startsWith('POST')).length, 2);
});

test('the signal ends a call that waits for a retry', async () => {
  const stop = new AbortController();
  const full = new Response(null, { status: 503, headers: { 'retry-after': '30' } });
  const busy: typeof fetch = async () => {
    queueMicrotask(() => setImmediate(() => stop.abort(new Error('no longer needed'))));
    return full.clone();
  };
  const client = createUsher({ url: server.url, token: account.admin, fetch: busy });
  await assert.rejects(async () => client.sites.list({}, { signal: stop.signal }), /no longer needed/);
});

test('an answer that is not from Usher says so', async () => {
  const page: typeof fetch = async () => new Response('<h1>Hello</h1>', { headers: { 'content-type': 'text/html' } });
  const client = createUsher({ url: server.url, token: account.admin, fetch: page });
  await assert.rejects(async () => client.sites.list(), /text\/html instead of JSON.*Check that the URL/);
});
