import { promises, type LookupAddress, type RecordWithTtl } from 'node:dns';

/**
 * Each server is queried three times, a second apart, alternating with the next server of the list. c-ares adapts these times to
 * the speed of the servers, so the whole lookup has its own deadline.
 */
const query = { timeout: 1_000, tries: 3, maxTimeout: 1_000 };
const lookupMs = 4_000;
/** After the addresses of one family have arrived, the other family has this time: some servers never answer IPv6 queries. */
const otherFamilyMs = 300;
/** Addresses of one family that are used. An answer over TCP may have thousands, and whoever chose the name may have written them. */
const maxAddresses = 16;

export interface FoundAddresses {
  /** At least one address, IPv4 first; the connection tries both families. */
  readonly addresses: readonly LookupAddress[];
  /** The smallest TTL of all records. */
  readonly ttlSec: number;
}

/** The name has no address. The message may be shown to the customer who gave the name. */
export class NameUnresolved extends Error {
  override readonly name = 'NameUnresolved';
  readonly code: string;
  /** The servers answered that the name or its addresses do not exist. Otherwise they did not answer. */
  readonly isAbsent: boolean;

  constructor(hostname: string, code: string) {
    super(code === 'ETIMEOUT' ? `no DNS server answered for ${hostname}` : `${hostname} does not resolve`);
    this.code = code;
    this.isAbsent = absent.has(code);
  }
}

const absent: ReadonlySet<string> = new Set(['ENOTFOUND', 'ENODATA', 'EBADNAME']);

export interface LookUpOptions {
  readonly hostname: string;
  /** The names to query in order until one exists. */
  readonly candidates: readonly string[];
  /** `address` or `address:port`; if empty, the servers of the system. */
  readonly servers: readonly string[];
  readonly signal: AbortSignal;
}

/**
 * Looks a name up in DNS with c-ares. Unlike `dns.lookup`, which calls getaddrinfo on one of libuv's few threads, it blocks nobody
 * else while a server does not respond. Each lookup has its own resolver: `cancel` cancels only this lookup, a dead name does
 * not spoil what c-ares has learned about a server, and a changed resolv.conf is used at once. Creating a resolver takes 0.2 ms.
 */
export async function lookUpName({ hostname, candidates, servers, signal }: LookUpOptions): Promise<FoundAddresses> {
  signal.throwIfAborted();
  const resolver = new promises.Resolver(query);
  if (servers.length > 0) resolver.setServers([...servers]);
  const cancel = (): void => resolver.cancel();
  const deadline = setTimeout(cancel, lookupMs);
  signal.addEventListener('abort', cancel);
  try {
    let code = 'ENOTFOUND';
    for (const name of candidates) {
      const found = await queryBoth(resolver, name);
      if (typeof found !== 'string') return found;
      code = found;
      if (!absent.has(code)) break;
    }
    throw new NameUnresolved(hostname, code);
  } finally {
    clearTimeout(deadline);
    signal.removeEventListener('abort', cancel);
    // The response for the other family is no longer needed.
    resolver.cancel();
  }
}

type Answer = readonly RecordWithTtl[] | string;

/** Queries both families at once; returns an error code if neither has an address. */
async function queryBoth(resolver: promises.Resolver, name: string): Promise<FoundAddresses | string> {
  const v4 = resolver.resolve4(name, { ttl: true }).catch(codeOf);
  const v6 = resolver.resolve6(name, { ttl: true }).catch(codeOf);
  const first: Answer = await Promise.race([v4, v6]);
  let timer: NodeJS.Timeout | undefined;
  const patience = new Promise<null>((resolve) => {
    if (typeof first !== 'string' && first.length > 0) timer = setTimeout(() => resolve(null), otherFamilyMs);
  });
  const answers = await Promise.all([Promise.race([v4, patience]), Promise.race([v6, patience])]);
  clearTimeout(timer);
  const found = answers.flatMap((answer, index) =>
    answer === null || typeof answer === 'string'
      ? []
      : answer.slice(0, maxAddresses).map(({ address, ttl }) => ({ address, family: index === 0 ? 4 : 6, ttl })),
  );
  if (found.length === 0) return worstOf(answers.filter((answer) => typeof answer === 'string'));
  return {
    addresses: found.map(({ address, family }) => ({ address, family })),
    ttlSec: Math.min(...found.map(({ ttl }) => ttl)),
  };
}

/** A time-out outranks "does not exist": the server that did not respond may know the name. */
function worstOf(codes: readonly string[]): string {
  return codes.find((code) => !absent.has(code)) ?? codes[0] ?? 'ENODATA';
}

function codeOf(error: NodeJS.ErrnoException): string {
  const code = error.code ?? 'EUNKNOWN';
  return code === 'ECANCELLED' ? 'ETIMEOUT' : code;
}
