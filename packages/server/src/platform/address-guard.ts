import { lookup, type LookupAddress } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { promisify } from 'node:util';
import ipaddr from 'ipaddr.js';

type Address = ipaddr.IPv4 | ipaddr.IPv6;
type Network = [Address, number];

/** `public`: anybody's. `allowed`: not public, but the settings name it. `forbidden`: of this machine, or of a network around it. */
export type Standing = 'public' | 'allowed' | 'forbidden';

/** What the name resolves to; rejects if it does to nothing. */
export type Resolve = (hostname: string) => Promise<readonly LookupAddress[]>;

/** An address that must not be connected to, or a name that has one. The message may be shown to whoever named it. */
export class ForbiddenAddress extends Error {
  override readonly name = 'ForbiddenAddress';
}

/** Whoever registers a URL waits so long for its name; one that is not resolved by then is checked when it is used. */
const registrationLookupMs = 3_000;

const lookupAll = promisify(lookup);
const resolveBySystem: Resolve = async (hostname) => lookupAll(hostname, { all: true });

const globalUnicast = network('2000::/3');
/** By this prefix the network itself makes IPv6 addresses of public IPv4 ones, where hosts have no IPv4 (DNS64). */
const nat64 = network('64:ff9b::/96');

/**
 * Keeps what customers make us connect to (webhooks, identity providers) away from where only we can reach: this machine,
 * its networks, the cloud's metadata. A URL is checked when it is registered, for the sake of a good error. What protects
 * is `lookupFor` and `standing` at the moment of connecting: the addresses checked there are the ones connected to, so a
 * name that means something else the next moment gains nothing.
 */
export class AddressGuard {
  readonly #allowed: Network[];
  readonly #resolve: Resolve;
  readonly #resolving = new Map<string, ReturnType<Resolve>>();

  constructor(allowed: readonly string[], resolve: Resolve = resolveBySystem) {
    this.#allowed = allowed.map(network);
    this.#resolve = resolve;
  }

  /** Of a literal address. What is no address is forbidden. */
  standing(text: string): Standing {
    if (isIP(text) === 0) return 'forbidden';
    const address = unwrapped(parsed(text));
    if (ipaddr.subnetMatch(address, { allowed: this.#allowed }, 'other') === 'allowed') return 'allowed';
    return isPublic(address) ? 'public' : 'forbidden';
  }

  /**
   * Every address of the name. One that is forbidden forbids them all: which of them is connected to is not for us to say.
   * With `onlyAllowed` it is not enough to be public.
   */
  async addresses(hostname: string, onlyAllowed = false): Promise<LookupAddress[]> {
    const found = [...(await this.#resolved(hostname))];
    const [first] = found;
    if (first === undefined) throw Object.assign(new Error(`${hostname} has no address`), { code: 'ENOTFOUND' });
    const wrong = found.find(({ address }) => !this.permits(address, onlyAllowed));
    if (wrong !== undefined) throw new ForbiddenAddress(`${hostname} resolves to ${wrong.address}, which ${refused}`);
    return found;
  }

  /**
   * Who asks for a name that is being resolved gets the same answer. A process resolves only two names at a time (half of
   * libuv's threads): a receiver's name that takes long, asked for by each connection, would hold up everybody else's.
   */
  async #resolved(hostname: string): ReturnType<Resolve> {
    const begun = this.#resolving.get(hostname);
    if (begun !== undefined) return begun;
    const resolving = this.#resolve(hostname).finally(() => this.#resolving.delete(hostname));
    this.#resolving.set(hostname, resolving);
    return resolving;
  }

  permits(address: string, onlyAllowed = false): boolean {
    const standing = this.standing(address);
    return standing === 'allowed' || (standing === 'public' && !onlyAllowed);
  }

  /** For the sockets of `net` and `tls`: what it answers is what they connect to. They do not ask for literal addresses. */
  lookupFor(onlyAllowed: boolean): LookupFunction {
    return (hostname, { all }, answer) => {
      this.addresses(hostname, onlyAllowed).then(
        (found) => (all === true ? answer(null, found) : answer(null, found[0]?.address ?? '', found[0]?.family)),
        (error: NodeJS.ErrnoException) => answer(error, []),
      );
    };
  }

  /**
   * Why the URL may not be registered; `null` if it may. A name that cannot be resolved now may, unless it has to be in an
   * allowed range.
   */
  async complaint(url: URL, { onlyAllowed = false } = {}): Promise<string | null> {
    const hostname = bareHost(url);
    if (isIP(hostname) !== 0) return this.permits(hostname, onlyAllowed) ? null : refused;
    const unresolved = onlyAllowed ? `${hostname} cannot be resolved` : null;
    const found = this.addresses(hostname, onlyAllowed).then(
      () => null,
      (error: unknown) => (error instanceof ForbiddenAddress ? error.message : unresolved),
    );
    const late = Promise.withResolvers<string | null>();
    const timer = setTimeout(() => late.resolve(unresolved), registrationLookupMs);
    return Promise.race([found, late.promise]).finally(() => clearTimeout(timer));
  }
}

const refused = 'is not an address that Usher may connect to';

/** The host as sockets take it: an IPv6 address without its brackets. IPv4 in any spelling is a plain one in a parsed URL. */
export function bareHost({ hostname }: URL): string {
  return hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
}

/**
 * Only what is known to be public is: an IPv6 address outside of 2000::/3 is not, whatever it may be (IPv4-compatible ones
 * among them, which ipaddr.js takes for unicast), nor are 6to4 and Teredo, which wrap addresses nobody has checked.
 */
function isPublic(address: Address): boolean {
  const inGlobal =
    address.kind() === 'ipv4' || ipaddr.subnetMatch(address, { global: [globalUnicast] }, '') === 'global';
  return inGlobal && address.range() === 'unicast';
}

/** Without its zone, and an IPv6 address in its one spelling: ipaddr.js reads `::1.2.3.4` as if it were IPv4-mapped. */
function parsed(text: string): Address {
  const [address = ''] = text.split('%', 1);
  return ipaddr.parse(isIP(address) === 6 ? bareHost(new URL(`http://[${address}]`)) : address);
}

/** The IPv4 address that would be reached by an IPv6 one that only stands for it. */
function unwrapped(address: Address): Address {
  if (address instanceof ipaddr.IPv4) return address;
  if (address.isIPv4MappedAddress()) return address.toIPv4Address();
  if (ipaddr.subnetMatch(address, { nat64: [nat64] }, '') !== 'nat64') return address;
  return new ipaddr.IPv4(address.toByteArray().slice(12));
}

/** `10.0.0.0/8`, or one address. */
function network(text: string): Network {
  if (text.includes('/')) return ipaddr.parseCIDR(text);
  const address = ipaddr.parse(text);
  return [address, address.kind() === 'ipv4' ? 32 : 128];
}
