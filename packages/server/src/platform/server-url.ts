/** Where a server that listens there is reached from the same machine, as a client would write it. */
export function serverUrl(host: string, port: number): string {
  const everywhere = ['0.0.0.0', '::'].includes(host);
  const shown = everywhere ? '127.0.0.1' : host.includes(':') ? `[${host}]` : host;
  return `http://${shown}:${port}`;
}
