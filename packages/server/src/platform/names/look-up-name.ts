import { promises, type LookupAddress, type RecordWithTtl } from 'node:dns';

/**
 * A server is asked three times, a second apart, and the next one of the list meanwhile. c-ares keeps to neither exactly
 * (it learns from how fast servers were), so that the whole lookup has a deadline of its own.
 */
const query = { timeout: 1_000, tries: 3, maxTimeout: 1_000 };
const lookupMs = 4_000;
/** Once addresses of one family are there, the other has so long: some servers never answer questions for IPv6. */
const otherFamilyMs = 300;

export interface FoundAddresses {
  /** At least one. IPv4 first; the connection tries both families. */
  readonly addresses: readonly LookupAddress[];
  /** The least of all records. */
  readonly ttlSec: number;
}

/** The name has no address now. The message may be shown to the customer who gave the name. */
export class NameUnresolved extends Error {
  override readonly name = 'NameUnresolved';
  readonly code: string;
  /** The servers say that there is no such name, or that it has no address. Otherwise they did not say anything. */
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
  /** What to ask DNS for, in turn, until one exists. */
  readonly candidates: readonly string[];
  /** As `address` or `address:port`; none: those of the system. */
  readonly servers: readonly string[];
  readonly signal: AbortSignal;
}

/**
 * Asks DNS for a name, with c-ares: unlike `dns.lookup`, which calls getaddrinfo on one of libuv's few threads, it holds up
 * nobody else while a server is silent. Each lookup has a resolver of its own: `cancel` then cancels this lookup alone, what
 * c-ares has learned of a server from a dead name is forgotten with it, and a changed resolv.conf counts at once. Making one
 * takes 0.2 ms.
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
    // The answer for the other family is not needed any more.
    resolver.cancel();
  }
}

type Answer = readonly RecordWithTtl[] | string;

/** Both families at once; a code if neither has an address. */
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
      : answer.map(({ address, ttl }) => ({ address, family: index === 0 ? 4 : 6, ttl })),
  );
  if (found.length === 0) return worstOf(answers.filter((answer) => typeof answer === 'string'));
  return {
    addresses: found.map(({ address, family }) => ({ address, family })),
    ttlSec: Math.min(...found.map(({ ttl }) => ttl)),
  };
}

/** A silent server may know what the other answer says is not there. */
function worstOf(codes: readonly string[]): string {
  return codes.find((code) => !absent.has(code)) ?? codes[0] ?? 'ENODATA';
}

function codeOf(error: NodeJS.ErrnoException): string {
  const code = error.code ?? 'EUNKNOWN';
  return code === 'ECANCELLED' ? 'ETIMEOUT' : code;
}
