import type { IncomingHttpHeaders } from 'node:http';
import type { Config } from '../../config.ts';

/** Fastify calls it for each address, from our peer (hop 0) towards the client, and stops at the first false. */
type Trust = (address: string, hop: number) => boolean;

/**
 * Whose `X-Forwarded-*` headers are trusted, in Fastify's format. A proxy appends its peer's address to `X-Forwarded-For`, so the
 * entries from the right are true, one per proxy; further left is whatever the client sent. Hops are counted here, because
 * Fastify refuses a number: it cannot tell whether our peer is a proxy. The administrator must ensure that (docs/guide).
 */
export function trustOf(trusted: Config['trustProxy']): boolean | string[] | Trust {
  if (typeof trusted === 'boolean') return trusted;
  if (typeof trusted === 'number') return (_address, hop) => hop < trusted;
  return [...trusted];
}

/** Some proxies, such as Azure's, append `address:port`. With the port, each connection would count as a different client. */
export function dropPorts(headers: IncomingHttpHeaders): void {
  const sent = headers['x-forwarded-for'];
  if (typeof sent !== 'string' || !sent.includes(':')) return;
  headers['x-forwarded-for'] = sent.split(',').map(withoutPort).join(',');
}

function withoutPort(entry: string): string {
  const [, ipv4, ipv6] = /^\s*(?:(\d+\.\d+\.\d+\.\d+):\d+|\[([^\]]+)\](?::\d+)?)\s*$/.exec(entry) ?? [];
  return ipv4 ?? ipv6 ?? entry;
}

export const trustAllWarning =
  'USHER_TRUST_PROXY=true trusts every X-Forwarded-For header, so clients can choose their address and evade the limits per ' +
  'address. Set it to the number of proxies in front of Usher, such as 1, or to their addresses.';
