/** How many sockets and feeds a process takes, from what the system lets it open. */
export interface ConnectionLimits {
  /** Sockets open at a time. */
  readonly connections: number;
  /** Of these, sockets of one address that no operator and no secret token has used. */
  readonly connectionsPerAddress: number;
  /** Live feeds open at a time. */
  readonly feeds: number;
  /** Of these, feeds of visitors: the rest is kept free for operators. */
  readonly visitorFeeds: number;
}

/** More sockets, or feeds, than these serve nobody: one process has one core for all of them. */
const mostConnections = 50_000;
/** A system with very few descriptors serves at least somebody. */
const leastConnections = 64;
const mostFeeds = 20_000;
/** What else needs file descriptors: connections to the database, webhooks under way, uploaded files. */
const reservedShare = 1 / 8;
const leastReserved = 256;
/** A feed is a socket; the rest of the sockets is for requests. */
const feedShare = 0.8;
const visitorFeedShare = 0.8;
const addressShare = 1 / 4;

export function connectionLimits(openFiles: number): ConnectionLimits {
  const reserved = Math.max(leastReserved, Math.min(openFiles, 2 * mostConnections) * reservedShare);
  const connections = Math.floor(Math.max(leastConnections, Math.min(mostConnections, openFiles - reserved)));
  const feeds = Math.floor(Math.min(mostFeeds, connections * feedShare));
  return {
    connections,
    connectionsPerAddress: Math.floor(connections * addressShare),
    feeds,
    visitorFeeds: Math.floor(feeds * visitorFeedShare),
  };
}

/** Where the system does not say, what most systems give at least. */
const usualOpenFiles = 1_024;

/** The number of files and sockets that this process may have open. Node raises it to the hard limit when it starts. */
export function openFileLimit(): number {
  // Looking up the names of open sockets' addresses would take seconds.
  Object.assign(process.report, { excludeNetwork: true });
  const { userLimits } = process.report.getReport() as { userLimits?: { open_files?: { soft?: unknown } } };
  const soft = userLimits?.open_files?.soft;
  if (soft === 'unlimited') return Infinity;
  return typeof soft === 'number' ? soft : usualOpenFiles;
}
