import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { eventTypes } from '../../packages/server/src/events/catalogue.ts';
import { startApple } from '../support/services/apple.ts';
import { selfSigned } from '../support/network/certificate.ts';
import { end, engage, sendText } from '../support/people/chat.ts';
import { startCluster } from '../support/processes/cluster.ts';
import { temporaryDirectory } from '../support/processes/process.ts';
import { call, until } from '../support/server.ts';
import { hangMs } from '../support/slowness.ts';
import { makeWebhook } from '../support/receivers/webhooks.ts';

/** A real process, with a key file and a test certificate authority. */
test(
  'events are pushed to a device in order, until Apple reports that the device is gone',
  { timeout: hangMs },
  async () => {
    const directory = temporaryDirectory();
    const apple = await startApple();
    const keyFile = join(directory.path, 'key.p8');
    const caFile = join(directory.path, 'ca.pem');
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    writeFileSync(keyFile, privateKey.export({ format: 'pem', type: 'pkcs8' }));
    writeFileSync(caFile, selfSigned.cert);
    try {
      await using cluster = await startCluster(1, {
        USHER_APNS_KEY_FILE: keyFile,
        USHER_APNS_KEY_ID: 'ABCDE12345',
        USHER_APNS_TEAM_ID: 'TEAMID1234',
        USHER_APNS_SANDBOX_URL: apple.url,
        NODE_EXTRA_CA_CERTS: caFile,
      });
      const [node = assert.fail()] = cluster.nodes;
      const chat = await engage(cluster.reach(node));
      const hook = await makeWebhook(chat.server, chat.own, {
        url: 'apns://0a1b2c@com.example.App?env=sandbox',
        method: undefined,
        events: [...eventTypes],
      });
      assert.equal(hook.secret ?? null, null);
      for (const content of ['one', 'two']) await sendText(chat, chat.visitor, content);
      await until(() => apple.pushes.length === 2, 10_000);
      assert.deepEqual(
        apple.pushes.map(({ headers, json }) => [headers[':path'], headers['apns-topic'], json.data.message.content]),
        [
          ['/3/device/0a1b2c', 'com.example.App', 'one'],
          ['/3/device/0a1b2c', 'com.example.App', 'two'],
        ],
      );
      assert.equal(apple.pushes[0]?.json.message, 'engagement.chat.message');
      // An event that is too long for Apple keeps the common fields, in the usual order.
      const long = await sendText(chat, chat.visitor, 'x'.repeat(5_000));
      await until(() => apple.pushes.length === 3, 10_000);
      const { data } = apple.pushes[2]?.json ?? assert.fail();
      assert.deepEqual(Object.keys(data), ['event_type', 'event_id', 'dispatched_at', 'message', 'truncated']);
      assert.deepEqual([data.message.id, data.truncated], [long, true]);
      assert.ok(Date.parse(data.dispatched_at) > 0);
      apple.onPush = (push) => push.answer(410, { reason: 'Unregistered', timestamp: Date.now() + 60_000 });
      await end(chat);
      const show = async () => (await call(node, `GET /webhooks/${hook.id}`, { token: chat.own.admin })).body;
      await until(async () => (await show()).enabled === false, 10_000);
      assert.equal((await show()).disabled_because, 'token_ended');
      const { body } = await call(node, `GET /webhooks/${hook.id}/deliveries?state=held`, { token: chat.own.admin });
      assert.deepEqual(
        body.deliveries.map(({ event_type }: { event_type: string }) => event_type),
        ['engagement.end'],
      );
    } finally {
      await apple.close();
      directory.remove();
    }
  },
);
