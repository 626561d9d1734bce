import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import Fastify from 'fastify';
import { Feeds } from '../../packages/server/src/feed/feeds.ts';
import { feedRoutes } from '../../packages/server/src/feed/routes.ts';
import type { OperatorCaller } from '../../packages/server/src/identity/caller.ts';
import type { App } from '../../packages/server/src/platform/http/http.ts';
import { connect } from '../../packages/server/src/platform/database/database.ts';
import type { AccountId, OperatorId } from '../../packages/server/src/platform/ids.ts';
import { openWorld } from '../support/fixture.ts';

/** Tests how feeds react to failures that a whole server shows only for an instant. */

const { server, account } = await openWorld();
const [row] = await server.database.sql<{ account_id: AccountId }[]>`
  SELECT account_id FROM operators WHERE id = ${account.adminId}`;
assert.ok(row);
const caller = {
  kind: 'operator',
  key: account.adminId,
  accountId: row.account_id,
  operatorId: account.adminId as OperatorId,
  roles: new Map(),
} as unknown as OperatorCaller;

type Dependencies = ConstructorParameters<typeof Feeds>[0];

test('a feed is closed if the roles of its reader have changed and cannot be read', async (t) => {
  const onChange = new Map<string, (id: string) => void>();
  let isAvailable = true;
  const unavailable = Object.assign(new Error('no database'), { code: 'ECONNREFUSED' });
  const feeds = new Feeds({
    sql: server.database.sql,
    hints: { on: () => undefined, onWhisper: () => undefined },
    changes: {
      on: (table: string, listener: (id: string) => void) => onChange.set(table, listener),
      onReset: () => undefined,
    },
    authenticator: { authenticate: async () => (isAvailable ? caller : Promise.reject(unavailable)) },
    onDropped: () => undefined,
  } as unknown as Dependencies);
  const http = createServer((_request, response) => {
    void feeds.prepare(caller.accountId, null).then(async (follower) => {
      response.writeHead(200).flushHeaders();
      await feeds.serve(follower, { response, caller, header: '', lastId: null });
    });
  }).listen(0, '127.0.0.1');
  await once(http, 'listening');
  t.after(() => {
    feeds.stop();
    http.close();
  });
  const { body } = await fetch(`http://127.0.0.1:${(http.address() as AddressInfo).port}`);
  assert.ok(body);
  const reader = body.getReader();
  await reader.read();
  assert.equal(feeds.size, 1);

  onChange.get('operators')?.(account.adminId);
  isAvailable = false;
  onChange.get('operators')?.(account.adminId);
  while (!(await reader.read()).done);
  assert.equal(feeds.size, 0);
});

test('a reader does not resume while the log cannot be read, as they may have read more of it than this process', async () => {
  const sql = connect(server.database.address, { max: 1 });
  const feeds = new Feeds({
    sql,
    hints: { on: () => undefined, onWhisper: () => undefined },
    changes: { on: () => undefined, onReset: () => undefined },
    log: { error: () => undefined },
  } as unknown as Dependencies);
  const follower = await feeds.prepare(caller.accountId, null);
  await feeds.prepare(caller.accountId, 'an id');
  await sql.end();
  await assert.rejects(feeds.prepare(caller.accountId, 'an id'));
  assert.equal(follower.joining, 2);
  feeds.stop();
});

test('a feed whose request was answered at its deadline gives up its follower', async () => {
  const app = Fastify() as unknown as App;
  const prepared = Promise.withResolvers<string>();
  const left = Promise.withResolvers<unknown>();
  app.addHook('onRequest', async (request, reply) => {
    Object.assign(request, { caller });
    setImmediate(() => {
      reply
        .code(503)
        .send('late')
        .then(
          () => prepared.resolve('follower'),
          (error: unknown) => prepared.reject(error),
        );
    });
  });
  feedRoutes(app, {
    admission: { admit: async () => undefined },
    feeds: { prepare: async () => prepared.promise, leave: left.resolve },
  } as unknown as Parameters<typeof feedRoutes>[1]);
  const { statusCode } = await app.inject('/feed');
  assert.equal(statusCode, 503);
  assert.equal(await left.promise, 'follower');
});
