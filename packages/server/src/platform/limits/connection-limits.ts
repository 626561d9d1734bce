import { existsSync, readFileSync } from 'node:fs';

/** How many sockets and live feeds a process accepts, derived from its limit of open files. */
export interface ConnectionLimits {
  /** Sockets open at a time. */
  readonly connections: number;
  /** Of these, sockets of one IP address that no operator and no secret token has used. */
  readonly connectionsPerAddress: number;
  /** Live feeds open at a time. */
  readonly feeds: number;
  /** Of these, feeds of visitors; the rest is reserved for operators. */
  readonly visitorFeeds: number;
}

/** One process has one core, which could not serve more sockets or feeds than these. */
const maxConnections = 50_000;
/** The minimum, even on a system with very few file descriptors. */
const minConnections = 64;
const maxFeeds = 20_000;
/**
 * Connections that may wait to be accepted: all feeds of a process that ended reconnect at once. With Node's default of 511, some of them
 * waited for seconds and others were reset. The system may allow fewer (`net.core.somaxconn` of Linux).
 */
export const acceptBacklog = 65_535;
/** Reserved file descriptors: database connections, webhook requests, uploaded files. */
const reservedShare = 1 / 8;
const minReserved = 256;
/** The share of sockets that may be feeds; the rest is for requests. */
const feedShare = 0.8;
const visitorFeedShare = 0.8;
const addressShare = 1 / 4;

export function connectionLimits(openFiles: number): ConnectionLimits {
  const reserved = Math.max(minReserved, Math.min(openFiles, 2 * maxConnections) * reservedShare);
  const connections = Math.floor(Math.max(minConnections, Math.min(maxConnections, openFiles - reserved)));
  const feeds = Math.floor(Math.min(maxFeeds, connections * feedShare));
  return {
    connections,
    connectionsPerAddress: Math.floor(connections * addressShare),
    feeds,
    visitorFeeds: Math.floor(feeds * visitorFeedShare),
  };
}

/** The usual minimum, for systems that do not report their limit. */
const usualOpenFiles = 1_024;

/** The number of files and sockets that this process may open. Node raises the soft limit to the hard limit at its start. */
export function openFileLimit(): number {
  const soft = existsSync(linuxLimits) ? softLimitOfLinux() : softLimitOfReport();
  if (soft === 'unlimited') return Infinity;
  return Number(soft) || usualOpenFiles;
}

const linuxLimits = '/proc/self/limits';

function softLimitOfLinux(): unknown {
  return /^Max open files +(\S+)/m.exec(readFileSync(linuxLimits, 'utf8'))?.[1];
}

/** A report takes longer than reading a file, and has a stack trace, for which Node loads the source maps. */
function softLimitOfReport(): unknown {
  // The network section would resolve the names of all peers, which takes seconds.
  Object.assign(process.report, { excludeNetwork: true });
  const { userLimits } = process.report.getReport() as { userLimits?: { open_files?: { soft?: unknown } } };
  return userLimits?.open_files?.soft;
}
