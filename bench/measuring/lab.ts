import { startDatabases, type Databases } from './databases.ts';
import { temporaryFolder } from './processes.ts';
import { startUsher, type Usher } from './usher.ts';

/** The size of a load: `full` to measure, `short` only to check that an entry still runs. */
export type Size = 'full' | 'short';

/** Starts what an entry needs. Everything that is started ends with the scope, even after a failure. */
export interface Lab {
  readonly scope: AsyncDisposableStack;
  readonly size: Size;
  /** Starts a server as a user would, with a new database. */
  startUsher(): Promise<Usher>;
  /** Starts a PostgreSQL in which databases can be created. */
  startDatabases(): Promise<Databases>;
  /** Starts a PostgreSQL that counts statements: see counting.ts. */
  startCountingDatabases(): Promise<Databases>;
}

const counting = { shared_preload_libraries: 'pg_stat_statements' };

/** Shares nothing between entries; each server uses its embedded database. */
export function fullLab(scope: AsyncDisposableStack): Lab {
  return {
    scope,
    size: 'full',
    startUsher: async () => startUsher(scope, temporaryFolder(scope)),
    startDatabases: async () => startDatabases(scope),
    startCountingDatabases: async () => startDatabases(scope, counting),
  };
}

/** One PostgreSQL for all short entries, which would otherwise spend most of their time starting their own. */
export async function startSharedDatabases(scope: AsyncDisposableStack): Promise<Databases> {
  return startDatabases(scope, { ...counting, fsync: 'off', full_page_writes: 'off' });
}

let serverCount = 0;

/** Uses the smallest loads, on a PostgreSQL that all entries share. */
export function shortLab(scope: AsyncDisposableStack, shared: Databases): Lab {
  return {
    scope,
    size: 'short',
    async startUsher() {
      serverCount += 1;
      return startUsher(scope, temporaryFolder(scope), await shared.createForUsher(`server_${serverCount}`));
    },
    startDatabases: async () => shared,
    startCountingDatabases: async () => shared,
  };
}
