interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

/** The URL that a start prints. With PORT=0 the port is the one that the system assigned. */
export function listeningUrl(
  address: string | { readonly port: number } | null,
  { host, port }: ListenAddress,
): string {
  return serverUrl(host, typeof address === 'object' && address !== null ? address.port : port);
}

/** The URL of a server on this machine. */
export function serverUrl(host: string, port: number): string {
  const everywhere = ['0.0.0.0', '::'].includes(host);
  const shown = everywhere ? '127.0.0.1' : host.includes(':') ? `[${host}]` : host;
  return `http://${shown}:${port}`;
}
