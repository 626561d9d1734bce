import { parseNatsUrl } from '@usher/contract/nats-url';

export interface NatsServer {
  /** As sockets take it: an IPv6 address without its brackets. */
  readonly host: string;
  readonly port: number;
  readonly isSecure: boolean;
}

/** Of a URL without faults, or an origin: where to connect, and where to publish. */
export function natsTarget(url: string): {
  readonly server: NatsServer;
  readonly origin: string;
  readonly subject: string;
} {
  const parsed = parseNatsUrl(url);
  if (parsed === null) throw new Error('a nats URL with faults was stored');
  const { isSecure, hostname, port, subject } = parsed;
  return {
    server: { host: hostname.replaceAll(/[[\]]/g, ''), port, isSecure },
    origin: `${isSecure ? 'tls' : 'nats'}://${hostname}:${port}`,
    subject,
  };
}
