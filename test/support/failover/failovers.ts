import type { PatroniCluster } from './patroni-cluster.ts';
import type { PatroniNode } from './patroni-node.ts';

/** A way in which the other server becomes the primary. */
export interface Failover {
  readonly name: string;
  /** Makes the primary fail. Resolves without waiting for the promotion. */
  readonly begin: (primary: PatroniNode, cluster: PatroniCluster) => Promise<void>;
  /** Ends the failure, after the other one was promoted. */
  readonly end: (failed: PatroniNode) => void;
}

export const failovers = {
  'switched over': {
    name: 'The primary is switched over',
    begin: async (_primary, cluster) => cluster.switchOver(),
    end: () => undefined,
  },
  killed: {
    name: 'The primary is killed',
    begin: async (primary) => primary.kill(),
    end: (failed) => failed.launch(),
  },
  frozen: {
    name: 'The primary is frozen',
    begin: async (primary) => primary.freeze(),
    end: (failed) => failed.thaw(),
  },
  'cut off': {
    name: 'The primary is cut off',
    begin: async (primary) => primary.cutOff(true),
    end: (failed) => failed.cutOff(false),
  },
} satisfies Record<string, Failover>;

export type FailoverKind = keyof typeof failovers;
