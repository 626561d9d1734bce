interface Listening {
  readonly host: string;
  readonly port: number;
}

/** The address that a start prints: the port is the one that the system gave where PORT is 0. */
export function listeningUrl(address: string | { readonly port: number } | null, { host, port }: Listening): string {
  return serverUrl(host, typeof address === 'object' && address !== null ? address.port : port);
}

/** Where a server that listens there is reached from the same machine, as a client would write it. */
export function serverUrl(host: string, port: number): string {
  const everywhere = ['0.0.0.0', '::'].includes(host);
  const shown = everywhere ? '127.0.0.1' : host.includes(':') ? `[${host}]` : host;
  return `http://${shown}:${port}`;
}
