import { statementsSoFar } from './counting.ts';
import { startDatabases, withDatabase } from './databases.ts';
import type { Entry } from './harness.ts';
import { drainRate, totalEvents, type Contestant } from './webhook-contest.ts';
import { Receiver } from './webhook-receiver.ts';
import { ours, prepareTemplate } from './webhooks-ours.ts';

/** What the database is asked to deliver a backlog, the start of the server included. */
export const statements: Entry = {
  name: 'webhooks-statements',
  async prepare(scope) {
    const receiver = new Receiver(scope);
    const [target = ''] = await receiver.listen(1);
    const databases = await startDatabases(scope, { shared_preload_libraries: 'pg_stat_statements' });
    const template = await prepareTemplate(scope, databases);
    return [
      {
        name: 'SQL statements for a delivery',
        unit: 'statements',
        async measure() {
          let url = '';
          let counted = Number.NaN;
          const contestant = counting(
            ours(async () => (url = await databases.fresh('ours', template))),
            async () => withDatabase(url, statementsSoFar),
            (count) => (counted = count),
          );
          await drainRate(scope, receiver, { contestant, target });
          return counted / totalEvents;
        },
        atMost: 0.05,
      },
    ];
  },
};

/** The same contestant; what it did is told when it is done. */
function counting(contestant: Contestant, count: () => Promise<number>, tell: (count: number) => void): Contestant {
  return async (scope, target) => {
    const ready = await contestant(scope, target);
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
