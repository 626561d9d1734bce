import { isIP } from 'node:net';

/** The syntax of addresses in settings. */

/** RFC 7064 and 7065: no slashes, no user, and a transport for TURN only. */
const iceUrl =
  /^(?:stuns?:(?<stun>[\w.-]+|\[[\dA-Fa-f:.]+\])|turns?:(?<turn>[\w.-]+|\[[\dA-Fa-f:.]+\]))(?::(?<port>\d{1,5}))?(?:\?transport=(?<transport>udp|tcp))?$/;

export function isIceUrl(url: string): boolean {
  const parts = iceUrl.exec(url)?.groups;
  if (parts === undefined || (parts['stun'] !== undefined && parts['transport'] !== undefined)) return false;
  const host = (parts['stun'] ?? parts['turn'] ?? '').replace(/^\[(.*)\]$/, '$1');
  const port = Number(parts['port'] ?? 3_478);
  return (!host.includes(':') || isIP(host) === 6) && port >= 1 && port <= 65_535;
}

export function isDnsServer(text: string): boolean {
  const [, bracketed, plain = text, port = '53'] = /^(?:\[([^\]]*)\]|([^:]*))(?::(\d{1,5}))?$/.exec(text) ?? [];
  const isAddress = bracketed === undefined ? isIP(plain) !== 0 : isIP(bracketed) === 6;
  return isAddress && !text.includes('%') && Number(port) >= 1 && Number(port) <= 65_535;
}

/** An address, or a network as `10.0.0.0/8`. */
export function isNetwork(text: string): boolean {
  const [address = '', prefix = '0', ...rest] = text.split('/');
  const bits = { 0: -1, 4: 32, 6: 128 }[isIP(address)] ?? -1;
  return rest.length === 0 && /^\d{1,3}$/.test(prefix) && Number(prefix) <= bits;
}
