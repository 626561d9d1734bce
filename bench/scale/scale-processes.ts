import type { Entry } from '../measuring/harness.ts';
import type { Size } from '../measuring/lab.ts';
import { startCluster } from './scale-cluster.ts';
import { openLanes } from './scale-lanes.ts';
import { flat, loadFigures, measureLoad, warmUp } from './scale-load.ts';
import { Receiver } from '../webhooks/webhook-receiver.ts';

interface Processes {
  readonly count: number;
  readonly hasHome?: boolean;
}

const sizes: Readonly<Record<Size, { readonly processes: readonly Processes[]; readonly lanes: number }>> = {
  full: { processes: [{ count: 1 }, { count: 2 }, { count: 4 }, { count: 4, hasHome: true }], lanes: 20 },
  short: { processes: [{ count: 2 }], lanes: 1 },
};

/** The cost of the same load on one account, handled by more processes on the same PostgreSQL. */
export const scaleProcesses: Entry = {
  name: 'scale-processes',
  async prepare({ scope, size, ...lab }) {
    const { processes, lanes: lanesEach } = sizes[size];
    const databases = await lab.startCountingDatabases();
    const receiver = new Receiver(scope);
    const [webhookUrl = ''] = await receiver.listen(1);
    const prepared = [];
    for (const { count, hasHome = false } of processes) {
      const name = `processes_${count}${hasHome ? '_home' : ''}`;
      const cluster = await startCluster(scope, databases, { name, processes: count, hasHome });
      const lanes = await openLanes(cluster, { accounts: 1, lanesEach });
      const load = { cluster, lanes, receiver, webhookUrl, size };
      await warmUp(load);
      const measure = async () => measureLoad(load);
      prepared.push({
        name: `${count === 1 ? '1 process' : `${count} processes`}${hasHome ? ', one of them reached' : ''}`,
        measure,
      });
    }
    return [{ figures: loadFigures, sizes: prepared, atMost: flat }];
  },
};
