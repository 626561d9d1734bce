import type { IncomingHttpHeaders } from 'node:http';
import type { Config } from '../config.ts';

/** Fastify asks about each address from our peer on, which is hop 0, towards the client, and stops where it hears no. */
type Trust = (address: string, hop: number) => boolean;

/**
 * Whose `X-Forwarded-*` headers are believed, as Fastify takes it. A proxy appends its peer's address to `X-Forwarded-For`, so
 * entries are true from the right, one per proxy; what is left of them is whatever the client sent. Hops are counted here,
 * because Fastify refuses a number: it cannot tell whether our peer is a proxy at all. Who sets one must see to that (README).
 */
export function trustOf(trusted: Config['trustProxy']): boolean | string[] | Trust {
  if (typeof trusted === 'boolean') return trusted;
  if (typeof trusted === 'number') return (_address, hop) => hop < trusted;
  return [...trusted];
}

/** Some proxies, such as Azure's, append `address:port`. With the port, each connection would count as another client. */
export function dropPorts(headers: IncomingHttpHeaders): void {
  const sent = headers['x-forwarded-for'];
  if (typeof sent !== 'string' || !sent.includes(':')) return;
  headers['x-forwarded-for'] = sent.split(',').map(withoutPort).join(',');
}

function withoutPort(entry: string): string {
  const [, ipv4, ipv6] = /^\s*(?:(\d+\.\d+\.\d+\.\d+):\d+|\[([^\]]+)\](?::\d+)?)\s*$/.exec(entry) ?? [];
  return ipv4 ?? ipv6 ?? entry;
}

export const trustsEverybody =
  'USHER_TRUST_PROXY=true believes every X-Forwarded-For header, and its first address is chosen by the client: limits per ' +
  'address can be evaded. Set it to the number of proxies before Usher, such as 1, or to their addresses.';
