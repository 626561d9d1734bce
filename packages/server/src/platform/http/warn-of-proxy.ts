import type { IncomingHttpHeaders } from 'node:http';
import type { Log } from '../log.ts';

/**
 * Warns once if a proxy seems to be in front of Usher while no proxy is trusted. All visitors would have the proxy's address and
 * share the limits of one address. Returns the function to call with the headers of each request.
 */
export function warnOfProxy(log: Log): (headers: IncomingHttpHeaders) => void {
  let hasWarned = false;
  return (headers) => {
    if (hasWarned || headers['x-forwarded-for'] === undefined) return;
    hasWarned = true;
    log.warn(
      'A request has X-Forwarded-For, but USHER_TRUST_PROXY is false. If a proxy is in front of Usher, set USHER_TRUST_PROXY: otherwise all visitors count as one IP address and share its limits.',
    );
  };
}
