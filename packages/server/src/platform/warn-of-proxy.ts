import type { App } from './http.ts';
import type { Log } from './log.ts';

/**
 * Warns once if a proxy seems to be in front of Usher while no proxy is trusted. All visitors would have the proxy's address and
 * share the limits of one address.
 */
export function warnOfProxy(app: App, log: Log): void {
  let hasWarned = false;
  app.addHook('onRequest', ({ headers }, _reply, done) => {
    if (!hasWarned && headers['x-forwarded-for'] !== undefined) {
      hasWarned = true;
      log.warn(
        'A request has X-Forwarded-For, but USHER_TRUST_PROXY is false. If a proxy is in front of Usher, set USHER_TRUST_PROXY: otherwise all visitors count as one IP address and share its limits.',
      );
    }
    done();
  });
}
