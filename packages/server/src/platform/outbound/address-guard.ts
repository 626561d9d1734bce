import type { LookupAddress } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import { lookupBy } from './names/name-resolver.ts';

type Address = ipaddr.IPv4 | ipaddr.IPv6;
type Network = [Address, number];

/** `allowed` addresses are not public, but the settings allow them. `forbidden` ones belong to this machine or its networks. */
export type AddressClass = 'public' | 'allowed' | 'forbidden';

/** The part of `NameResolver` that the guard uses. */
interface Names {
  /** Resolves to at least one address. Lookups are limited per holder. */
  resolve(hostname: string, holder: string): Promise<readonly LookupAddress[]>;
  /** The cached addresses; `null` if there are none. */
  peek(hostname: string): readonly LookupAddress[] | null;
}

/** The address is forbidden, or the name has a forbidden address. The message may be shown to the customer who gave it. */
export class ForbiddenAddress extends Error {
  override readonly name = 'ForbiddenAddress';
}

const globalUnicast = network('2000::/3');
/** DNS64 maps public IPv4 addresses to this prefix for hosts without IPv4. */
const nat64 = network('64:ff9b::/96');

/**
 * Addresses in public ranges that clouds reserve for internal services: they respond only inside the cloud and trust every caller
 * there. Cloud services in private ranges (169.254.169.254, fd00:ec2::254, 100.100.100.200, 192.0.0.192) are not public anyway.
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
  /** Lookups are limited per holder. */
  readonly holder: string;
}

/**
 * D8.9: prevents connections that customers configure (webhooks, identity providers) from reaching this machine, its networks or
 * the metadata service of the cloud. A URL is checked when it is registered, to give a good error. The protection is the check
 * at connect time (`lookupFor`, `classify`): the checked addresses are the ones connected to, so changing the DNS record between
 * check and connection has no effect.
 */
export class AddressGuard {
  readonly #allowed: Network[];
  readonly #names: Names;

  constructor(allowed: readonly string[], names: Names) {
    this.#allowed = allowed.map(network);
    this.#names = names;
  }

  /** Classifies a literal address. Text that is not an address is forbidden. */
  classify(text: string): AddressClass {
    if (isIP(text) === 0) return 'forbidden';
    const address = unwrapped(parsed(text));
    if (ipaddr.subnetMatch(address, { allowed: this.#allowed }, 'other') === 'allowed') return 'allowed';
    return isPublic(address) ? 'public' : 'forbidden';
  }

  /** All addresses of the name. With `onlyAllowed`, public addresses are forbidden too. */
  async addresses(hostname: string, { onlyAllowed, holder }: Lookup): Promise<readonly LookupAddress[]> {
    const found = await this.#names.resolve(hostname, holder);
    const fault = this.#faultIn(hostname, found, onlyAllowed);
    if (fault !== null) throw new ForbiddenAddress(fault);
    return found;
  }

  /** One forbidden address forbids the name, because the socket chooses which address it connects to. */
  #faultIn(hostname: string, found: readonly LookupAddress[], onlyAllowed: boolean): string | null {
    const wrong = found.find(({ address }) => !this.permits(address, onlyAllowed));
    return wrong === undefined ? null : `${hostname} resolves to ${wrong.address}, which ${refused}`;
  }

  permits(address: string, onlyAllowed = false): boolean {
    const addressClass = this.classify(address);
    return addressClass === 'allowed' || (addressClass === 'public' && !onlyAllowed);
  }

  /** For the sockets of `net` and `tls`, which connect to the returned addresses. They do not look up literal addresses. */
  lookupFor(options: Lookup): LookupFunction {
    return lookupBy(async (hostname) => this.addresses(hostname, options));
  }

  /**
   * Why the URL may not be registered; `null` if it may. This queries no DNS server: a name that is not cached may be registered
   * and is checked when it is used.
   */
  complaint(url: URL, { onlyAllowed = false } = {}): string | null {
    const hostname = bareHost(url);
    if (isIP(hostname) !== 0) return this.permits(hostname, onlyAllowed) ? null : refused;
    const cached = this.#names.peek(hostname);
    return cached === null ? null : this.#faultIn(hostname, cached, onlyAllowed);
  }
}

const refused = 'is not an address that Usher may connect to';

/** The host in the form that sockets need: an IPv6 address without brackets. The URL parser normalises IPv4. */
export function bareHost({ hostname }: URL): string {
  return hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
}

/**
 * Only known public ranges are public. IPv6 outside of 2000::/3 is not (including IPv4-compatible addresses, which ipaddr.js
 * calls unicast), nor are 6to4 and Teredo, which wrap unchecked addresses.
 */
function isPublic(address: Address): boolean {
  const inGlobal =
    address.kind() === 'ipv4' || ipaddr.subnetMatch(address, { global: [globalUnicast] }, '') === 'global';
  const isPlatform = ipaddr.subnetMatch(address, { platform: [...platformNetworks] }, '') === 'platform';
  return inGlobal && !isPlatform && address.range() === 'unicast';
}

/** Removes the zone and normalises IPv6: ipaddr.js reads `::1.2.3.4` as if it were IPv4-mapped. */
function parsed(text: string): Address {
  const [address = ''] = text.split('%', 1);
  return ipaddr.parse(isIP(address) === 6 ? bareHost(new URL(`http://[${address}]`)) : address);
}

/** The IPv4 address inside an IPv4-mapped or NAT64 address. */
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
