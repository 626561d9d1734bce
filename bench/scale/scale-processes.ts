import type { Entry } from '../measuring/harness.ts';
import type { Size } from '../measuring/lab.ts';
import { startCluster } from './scale-cluster.ts';
import { openLanes } from './scale-lanes.ts';
import { flat, loadFigures, measureLoad, warmUp } from './scale-load.ts';
import { Receiver } from '../webhooks/webhook-receiver.ts';

const sizes: Readonly<Record<Size, { readonly processes: readonly number[]; readonly lanes: number }>> = {
  full: { processes: [1, 2, 4], lanes: 20 },
  short: { processes: [2], lanes: 1 },
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
    for (const count of processes) {
      const cluster = await startCluster(scope, databases, { name: `processes_${count}`, processes: count });
      const lanes = await openLanes(cluster, { accounts: 1, lanesEach });
      const load = { cluster, lanes, receiver, webhookUrl, size };
      await warmUp(load);
      const measure = async () => measureLoad(load);
      prepared.push({ name: count === 1 ? '1 process' : `${count} processes`, measure });
    }
    return [{ figures: loadFigures, sizes: prepared, atMost: flat }];
  },
};
