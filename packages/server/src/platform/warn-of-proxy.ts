import type { App } from './http.ts';
import type { Log } from './log.ts';

/**
 * Says once that a proxy seems to stand before Usher while none is trusted: then all visitors have the proxy's address, and
 * share the limits that each address has.
 */
export function warnOfProxy(app: App, log: Log): void {
  let hasWarned = false;
  app.addHook('onRequest', ({ headers }, _reply, done) => {
    if (!hasWarned && headers['x-forwarded-for'] !== undefined) {
      hasWarned = true;
      log.warn(
        'A request came with X-Forwarded-For, but USHER_TRUST_PROXY is false. If a proxy stands before Usher, set it: otherwise all visitors count as one address, and share what one address may have.',
      );
    }
    done();
  });
}
