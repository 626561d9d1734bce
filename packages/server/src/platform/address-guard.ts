import type { LookupAddress } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import { lookupBy } from './names/name-resolver.ts';

type Address = ipaddr.IPv4 | ipaddr.IPv6;
type Network = [Address, number];

/** `public`: anybody's. `allowed`: not public, but the settings name it. `forbidden`: of this machine, or of a network around it. */
export type Standing = 'public' | 'allowed' | 'forbidden';

/** What resolves names: see `NameResolver`. */
interface Names {
  /** At least one address. The holder is whose lookups are counted together. */
  resolve(hostname: string, holder: string): Promise<readonly LookupAddress[]>;
  /** What is known without asking; `null`: nothing is. */
  peek(hostname: string): readonly LookupAddress[] | null;
}

/** An address that must not be connected to, or a name that has one. The message may be shown to whoever named it. */
export class ForbiddenAddress extends Error {
  override readonly name = 'ForbiddenAddress';
}

const globalUnicast = network('2000::/3');
/** By this prefix the network itself makes IPv6 addresses of public IPv4 ones, where hosts have no IPv4 (DNS64). */
const nat64 = network('64:ff9b::/96');

/**
 * Addresses in public ranges that clouds keep for themselves: they answer only from inside, and trust every caller there.
 * What clouds have in private ranges (169.254.169.254, fd00:ec2::254, 100.100.100.200, 192.0.0.192) is not public anyway.
 */
const platformNetworks: readonly Network[] = [
  '168.63.129.16', // Azure: the host agent, DNS, health probes
  '161.26.0.0/16', // IBM Cloud: services
  '166.8.0.0/14', // IBM Cloud: service endpoints
  '199.36.153.4/30', // Google Cloud: restricted.googleapis.com
  '199.36.153.8/30', // Google Cloud: private.googleapis.com
].map(network);

interface Lookup {
  readonly onlyAllowed: boolean;
  /** Whose lookups are counted together. */
  readonly holder: string;
}

/**
 * Keeps what customers make us connect to (webhooks, identity providers) away from where only we can reach: this machine,
 * its networks, the cloud's metadata. A URL is checked when it is registered, for the sake of a good error. What protects
 * is `lookupFor` and `standing` at the moment of connecting: the addresses checked there are the ones connected to, so a
 * name that means something else the next moment gains nothing.
 */
export class AddressGuard {
  readonly #allowed: Network[];
  readonly #names: Names;

  constructor(allowed: readonly string[], names: Names) {
    this.#allowed = allowed.map(network);
    this.#names = names;
  }

  /** Of a literal address. What is no address is forbidden. */
  standing(text: string): Standing {
    if (isIP(text) === 0) return 'forbidden';
    const address = unwrapped(parsed(text));
    if (ipaddr.subnetMatch(address, { allowed: this.#allowed }, 'other') === 'allowed') return 'allowed';
    return isPublic(address) ? 'public' : 'forbidden';
  }

  /** Every address of the name. With `onlyAllowed` it is not enough to be public. */
  async addresses(hostname: string, { onlyAllowed, holder }: Lookup): Promise<readonly LookupAddress[]> {
    const found = await this.#names.resolve(hostname, holder);
    const fault = this.#faultIn(hostname, found, onlyAllowed);
    if (fault !== null) throw new ForbiddenAddress(fault);
    return found;
  }

  /** One address that is forbidden forbids them all: which of them is connected to is not for us to say. */
  #faultIn(hostname: string, found: readonly LookupAddress[], onlyAllowed: boolean): string | null {
    const wrong = found.find(({ address }) => !this.permits(address, onlyAllowed));
    return wrong === undefined ? null : `${hostname} resolves to ${wrong.address}, which ${refused}`;
  }

  permits(address: string, onlyAllowed = false): boolean {
    const standing = this.standing(address);
    return standing === 'allowed' || (standing === 'public' && !onlyAllowed);
  }

  /** For the sockets of `net` and `tls`: what it answers is what they connect to. They do not ask for literal addresses. */
  lookupFor(options: Lookup): LookupFunction {
    return lookupBy(async (hostname) => this.addresses(hostname, options));
  }

  /**
   * Why the URL may not be registered; `null` if it may. This asks no DNS server: a name that was not looked up lately may be
   * registered, and is checked when it is used.
   */
  complaint(url: URL, { onlyAllowed = false } = {}): string | null {
    const hostname = bareHost(url);
    if (isIP(hostname) !== 0) return this.permits(hostname, onlyAllowed) ? null : refused;
    const known = this.#names.peek(hostname);
    return known === null ? null : this.#faultIn(hostname, known, onlyAllowed);
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
  const isPlatform = ipaddr.subnetMatch(address, { platform: [...platformNetworks] }, '') === 'platform';
  return inGlobal && !isPlatform && address.range() === 'unicast';
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
