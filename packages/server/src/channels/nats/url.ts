import { parseNatsUrl } from '@usher/contract/nats-url';

export interface NatsServer {
  /** An IPv6 address has no brackets here. */
  readonly host: string;
  readonly port: number;
  readonly isSecure: boolean;
}

/** Where to connect and where to publish, for a valid URL or an origin. */
export function natsTarget(url: string): {
  readonly server: NatsServer;
  readonly origin: string;
  readonly subject: string;
} {
  const parsed = parseNatsUrl(url);
  if (parsed === null) throw new Error('the stored nats URL is invalid');
  const { isSecure, hostname, port, subject } = parsed;
  return {
    server: { host: hostname.replaceAll(/[[\]]/g, ''), port, isSecure },
    origin: `${isSecure ? 'tls' : 'nats'}://${hostname}:${port}`,
    subject,
  };
}
