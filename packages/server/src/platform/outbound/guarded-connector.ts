import { isIP } from 'node:net';
import { buildConnector } from 'undici';
import { ForbiddenAddress, type AddressGuard } from './address-guard.ts';

interface ConnectorOptions {
  readonly guard: AddressGuard;
  /** Whether plain http is allowed only to the allowed ranges, or also to public addresses. */
  readonly plainHttp: 'to allowed ranges' | 'anywhere';
  /** Includes resolving the name and verifying the certificate. */
  readonly timeoutMs: number;
  /** Lookups of names are limited per holder. */
  readonly holder: string;
}

/** Connects only to addresses that the guard has checked, and verifies certificates. */
export function guardedConnector({ guard, plainHttp, timeoutMs, holder }: ConnectorOptions): buildConnector.connector {
  const connectorFor = (onlyAllowed: boolean): buildConnector.connector => {
    const lookup = guard.lookupFor({ onlyAllowed, holder });
    const connect = buildConnector({ lookup, timeout: timeoutMs, allowH2: false });
    return (options, callback) => {
      const { hostname } = options;
      // A literal address skips the lookup, so it is checked here.
      if (isIP(hostname) === 0 || guard.permits(hostname, onlyAllowed)) return connect(options, callback);
      callback(new ForbiddenAddress(`Usher may not connect to ${hostname}`), null);
    };
  };
  const secure = connectorFor(false);
  const plain = connectorFor(plainHttp === 'to allowed ranges');
  return (options, callback) => (options.protocol === 'https:' ? secure : plain)(options, callback);
}
