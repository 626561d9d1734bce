import { openChats } from '../chat-load.ts';
import { percentile } from '../measuring/clock.ts';
import { withDatabase } from '../measuring/databases.ts';
import type { Entry } from '../measuring/harness.ts';
import { temporaryFolder } from '../measuring/processes.ts';
import { firstSite, signIn, startUsher } from '../measuring/usher.ts';
import { messageToArrival } from './webhook-latency.ts';
import { Receiver } from './webhook-receiver.ts';
import { register } from './webhooks-ours.ts';

const sizes = {
  full: { chatters: 100, perSecond: 200, seconds: 20 },
  short: { chatters: 4, perSecond: 50, seconds: 1 },
};

/** The time from a message to its arrival at a webhook. */
export const latency: Entry = {
  name: 'webhooks-latency',
  async prepare(lab) {
    const { scope } = lab;
    const { chatters, perSecond, seconds } = sizes[lab.size];
    const receiver = new Receiver(scope);
    const [target = ''] = await receiver.listen(1);
    const databases = await lab.startDatabases();
    const databaseUrl = await databases.createForUsher('ours');
    await withDatabase(databaseUrl, async (sql) => register(sql, target));
    const { url } = await startUsher(scope, temporaryFolder(scope), databaseUrl);
    const session = await signIn({ url });
    const { chats } = await openChats(session, await firstSite(session), chatters, () => null);
    const arriving = perSecond * seconds;
    return [
      {
        unit: 'ms',
        limits: [
          { name: `from a message to its webhook, p50 at ${perSecond} a second`, atMost: 15 },
          { name: `from a message to its webhook, p99 at ${perSecond} a second`, atMost: 60 },
        ],
        async measure() {
          const load = { url, databaseUrl, chats, perSecond, seconds, arriving };
          const took = await messageToArrival(receiver, load);
          return [percentile(took, 0.5), percentile(took, 0.99)];
        },
      },
    ];
  },
};
