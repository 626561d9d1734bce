import { openChats, operatorOf, sendFor, visitorOf } from '../chat-load.ts';
import { withDatabase } from './databases.ts';
import { FeedClient } from './feed-client.ts';
import { waitForMessages } from '../feed.ts';
import type { Entry } from './harness.ts';
import { assertInOrder } from './in-order.ts';
import { temporaryFolder } from './processes.ts';
import { firstSite, signIn, startUsher } from './usher.ts';
import { assertWebhooksInOrder } from '../webhooks/webhook-latency.ts';
import { Receiver } from '../webhooks/webhook-receiver.ts';
import { register } from '../webhooks/webhooks-ours.ts';

const sizes = { full: { chatting: 50, seconds: 10 }, short: { chatting: 5, seconds: 0.5 } };

/**
 * Both sides of every chat send their next message as soon as the last one was acknowledged, while a webhook and one feed for
 * each chat receive all messages. One message that arrives after a later message of the same sender fails the entry.
 */
export const order: Entry = {
  name: 'order',
  async prepare(lab) {
    const { scope } = lab;
    const { chatting, seconds } = sizes[lab.size];
    const receiver = new Receiver(scope);
    const [target = ''] = await receiver.listen(1);
    const databaseUrl = await (await lab.startDatabases()).createForUsher('ours');
    await withDatabase(databaseUrl, async (sql) => register(sql, target));
    const { url } = await startUsher(scope, temporaryFolder(scope), databaseUrl);
    const session = await signIn({ url });
    const { chats } = await openChats(session, await firstSite(session), chatting, () => null);
    const senders = [...chats.map(visitorOf), ...chats.map(operatorOf)];
    return [
      {
        name: 'a message at full load, received in order by a webhook and a feed',
        unit: 'ms',
        async measure() {
          await receiver.clear();
          const feeds = chats.map(({ operatorToken }) => new FeedClient(url, operatorToken));
          await Promise.all(feeds.map(async (feed) => feed.opened));
          const nextText = (): string => `sent at ${performance.now()}`;
          const { rate, sent } = await sendFor(url, senders, { seconds, nextText });
          const arrivals = await receiver.expect(sent);
          await waitForMessages(feeds, sent);
          for (const feed of feeds) feed.close();
          await assertWebhooksInOrder(databaseUrl, arrivals);
          const contents = feeds.flatMap((feed) => feed.contents);
          assertInOrder('the feeds', contents);
          return 1000 / rate;
        },
        // 500 a second.
        atMost: 2,
      },
    ];
  },
};
