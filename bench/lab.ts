import { startDatabases, type Databases } from './databases.ts';
import { temporaryFolder } from './processes.ts';
import { startUsher, type Usher } from './usher.ts';

/** How large a load is: as it is measured, or just enough to show that an entry still runs. */
export type Size = 'full' | 'short';

/** What an entry measures with. Whatever it starts ends with the scope, however the run goes. */
export interface Lab {
  readonly scope: AsyncDisposableStack;
  readonly size: Size;
  /** A server as a user starts it, with a new database. */
  startUsher(): Promise<Usher>;
  /** A PostgreSQL to make databases in. */
  startDatabases(): Promise<Databases>;
  /** The same, which counts statements: see counting.ts. */
  startCountingDatabases(): Promise<Databases>;
}

const counting = { shared_preload_libraries: 'pg_stat_statements' };

/** Everything is the entry's own, and the database of a server is the embedded one. */
export function fullLab(scope: AsyncDisposableStack): Lab {
  return {
    scope,
    size: 'full',
    startUsher: async () => startUsher(scope, temporaryFolder(scope)),
    startDatabases: async () => startDatabases(scope),
    startCountingDatabases: async () => startDatabases(scope, counting),
  };
}

/** A PostgreSQL for the short form of all entries: most of their time would be spent starting others. */
export async function startSharedDatabases(scope: AsyncDisposableStack): Promise<Databases> {
  return startDatabases(scope, { ...counting, fsync: 'off', full_page_writes: 'off' });
}

let servers = 0;

/** Everything is as small as it can be, on a PostgreSQL that entries share. */
export function shortLab(scope: AsyncDisposableStack, shared: Databases): Lab {
  return {
    scope,
    size: 'short',
    async startUsher() {
      servers += 1;
      return startUsher(scope, temporaryFolder(scope), await shared.ofUsher(`server_${servers}`));
    },
    startDatabases: async () => shared,
    startCountingDatabases: async () => shared,
  };
}
