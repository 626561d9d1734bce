import { hostname } from 'node:os';

/** PostgreSQL keeps this many bytes of an application name. */
const maxLength = 63;

/**
 * The name of this process in `pg_stat_activity`, unique among all processes of the service: in a container every process has the
 * id 1, but containers have different host names.
 */
export const processName = `usher ${process.pid}@${hostname()}`.slice(0, maxLength);
