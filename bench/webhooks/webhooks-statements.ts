import { countStatements } from '../measuring/counting.ts';
import { withDatabase } from '../measuring/databases.ts';
import type { Entry } from '../measuring/harness.ts';
import { backlogFor, drainRate, totalOf, type Contestant } from './webhook-contest.ts';
import { Receiver } from './webhook-receiver.ts';
import { ours } from './webhooks-ours.ts';

/** The SQL statements that delivering a backlog takes, including the start of the server. */
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
          const contestant = withCount(
            ours(async () => (url = await databases.createForUsher('ours'))),
            async () => withDatabase(url, countStatements),
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

/** Wraps a contestant and reports how many statements its drain executed. */
function withCount(contestant: Contestant, count: () => Promise<number>, report: (count: number) => void): Contestant {
  return async (scope, backlog) => {
    const ready = await contestant(scope, backlog);
    return {
      ...ready,
      async drain(arrived) {
        const before = await count();
        const doneAt = await ready.drain(arrived);
        report((await count()) - before);
        return doneAt;
      },
    };
  };
}
