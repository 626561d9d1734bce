import { statementsSoFar } from './counting.ts';
import { withDatabase } from './databases.ts';
import type { Entry } from './harness.ts';
import { backlogFor, drainRate, totalOf, type Contestant } from './webhook-contest.ts';
import { Receiver } from './webhook-receiver.ts';
import { ours } from './webhooks-ours.ts';

/** What the database is asked to deliver a backlog, the start of the server included. */
export const statements: Entry = {
  name: 'webhooks-statements',
  async prepare(lab) {
    const { scope, size } = lab;
    const receiver = new Receiver(scope);
    const [target = ''] = await receiver.listen(1);
    const backlog = backlogFor(size, target);
    const databases = await lab.startCountingDatabases();
    return [
      {
        name: 'SQL statements for a delivery',
        unit: 'statements',
        async measure() {
          let url = '';
          let counted = Number.NaN;
          const contestant = counting(
            ours(async () => (url = await databases.ofUsher('ours'))),
            async () => withDatabase(url, statementsSoFar),
            (count) => (counted = count),
          );
          await drainRate(scope, receiver, { contestant, backlog });
          return counted / totalOf(backlog);
        },
        atMost: 0.05,
      },
    ];
  },
};

/** The same contestant; what it did is told when it is done. */
function counting(contestant: Contestant, count: () => Promise<number>, tell: (count: number) => void): Contestant {
  return async (scope, backlog) => {
    const ready = await contestant(scope, backlog);
    return {
      ...ready,
      async drain(arrived) {
        const before = await count();
        const doneAt = await ready.drain(arrived);
        tell((await count()) - before);
        return doneAt;
      },
    };
  };
}
