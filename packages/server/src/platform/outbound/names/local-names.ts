import type { LookupAddress } from 'node:dns';
import { readFileSync, statSync } from 'node:fs';
import { isIP } from 'node:net';

/** How often files are checked for changes, and how much of each is read. Reading is synchronous, and the files are small. */
const refreshMs = 5_000;
const maxBytes = 1_048_576;
/** The limits of the C library. */
const maxSearchDomains = 6;
const maxNdots = 15;

export interface LocalFiles {
  readonly hosts: string;
  readonly resolvConf: string;
}

const systemFiles: LocalFiles = { hosts: '/etc/hosts', resolvConf: '/etc/resolv.conf' };

const loopback: readonly LookupAddress[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
];

/**
 * Resolves names without a DNS server: from the hosts file and for `localhost` (RFC 6761). Also applies the search domains of
 * resolv.conf. The queries of c-ares use neither, and containers and Kubernetes rely on both.
 */
export class LocalNames {
  readonly #hosts: ParsedFile<ReadonlyMap<string, readonly LookupAddress[]>>;
  readonly #search: ParsedFile<SearchRule>;

  constructor(files: LocalFiles = systemFiles) {
    this.#hosts = new ParsedFile(files.hosts, parseHosts);
    this.#search = new ParsedFile(files.resolvConf, parseSearch);
  }

  /** `null` if the name is not local, so that DNS must be queried. */
  addressesOf(hostname: string): readonly LookupAddress[] | null {
    const name = hostname.toLowerCase().replace(/\.$/, '');
    const found = this.#hosts.read().get(name);
    if (found !== undefined) return found;
    return name === 'localhost' || name.endsWith('.localhost') ? loopback : null;
  }

  /**
   * The names to query in order until one exists. A name with a dot is first queried unchanged: most are public, and would
   * otherwise cost a query per search domain. The C library queries it last if it has fewer dots than `ndots`; the difference
   * matters only for a name that exists both ways.
   */
  candidates(hostname: string): readonly string[] {
    if (hostname.endsWith('.')) return [hostname];
    const { domains, ndots } = this.#search.read();
    const dots = hostname.split('.').length - 1;
    if (dots >= ndots) return [hostname];
    const completed = domains.map((domain) => `${hostname}.${domain}`);
    return dots === 0 ? [...completed, hostname] : [hostname, ...completed];
  }
}

interface SearchRule {
  readonly domains: readonly string[];
  readonly ndots: number;
}

function parseHosts(text: string): ReadonlyMap<string, readonly LookupAddress[]> {
  const hosts = new Map<string, LookupAddress[]>();
  for (const line of text.split('\n')) {
    const [address = '', ...names] = wordsOf(line);
    const family = isIP(address);
    if (family === 0) continue;
    for (const name of names) {
      const key = name.toLowerCase();
      const addresses = hosts.get(key);
      if (addresses === undefined) hosts.set(key, [{ address, family }]);
      else addresses.push({ address, family });
    }
  }
  return hosts;
}

/** resolv.conf(5): the last `search` or `domain` line counts. */
function parseSearch(text: string): SearchRule {
  let domains: readonly string[] = [];
  let ndots = 1;
  for (const line of text.split('\n')) {
    const [keyword, ...values] = wordsOf(line);
    if (keyword === 'search') domains = values.slice(0, maxSearchDomains);
    else if (keyword === 'domain') domains = values.slice(0, 1);
    else if (keyword === 'options')
      for (const value of values) {
        const given = /^ndots:(\d{1,3})$/.exec(value)?.[1];
        if (given !== undefined) ndots = Math.min(Number(given), maxNdots);
      }
  }
  return { domains: domains.map((domain) => domain.replace(/\.$/, '')).filter((domain) => domain !== ''), ndots };
}

/** The words of a line, without its comment. */
function wordsOf(line: string): string[] {
  const [content = ''] = line.split(/[#;]/, 1);
  return content.split(/[\t\r ]+/).filter((word) => word !== '');
}

/** Caches the parsed content of a small file for a few seconds. A missing file counts as empty. */
class ParsedFile<Parsed> {
  readonly #path: string;
  readonly #parse: (text: string) => Parsed;
  #parsed: Parsed;
  #version = '';
  #checkedAt = -Infinity;

  constructor(path: string, parse: (text: string) => Parsed) {
    this.#path = path;
    this.#parse = parse;
    this.#parsed = parse('');
  }

  read(): Parsed {
    const now = performance.now();
    if (now - this.#checkedAt < refreshMs) return this.#parsed;
    this.#checkedAt = now;
    const version = versionOf(this.#path);
    if (version !== this.#version) {
      this.#version = version;
      this.#parsed = this.#parse(textOf(this.#path));
    }
    return this.#parsed;
  }
}

/** Includes the inode, because containers replace such files as well as write to them. */
function versionOf(path: string): string {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat === undefined ? '' : `${stat.ino} ${stat.size} ${stat.mtimeMs}`;
}

/** A file that cannot be read counts as empty, so that DNS is queried. */
function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8').slice(0, maxBytes);
  } catch {
    return '';
  }
}
