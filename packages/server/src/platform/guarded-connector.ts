import { isIP } from 'node:net';
import { buildConnector } from 'undici';
import { ForbiddenAddress, type AddressGuard } from './address-guard.ts';

interface ConnectorOptions {
  readonly guard: AddressGuard;
  /** Where plain http may go: to the allowed ranges alone, or also to public addresses. */
  readonly plainHttp: 'to allowed ranges' | 'anywhere';
  /** Until the connection is there, its name resolved and its certificate verified. */
  readonly timeoutMs: number;
  /** Whose lookups of names are counted together. */
  readonly holder: string;
}

/** Connects to addresses that the guard has checked, and verifies certificates. */
export function guardedConnector({ guard, plainHttp, timeoutMs, holder }: ConnectorOptions): buildConnector.connector {
  const connectorFor = (onlyAllowed: boolean): buildConnector.connector => {
    const lookup = guard.lookupFor({ onlyAllowed, holder });
    const connect = buildConnector({ lookup, timeout: timeoutMs, allowH2: false });
    return (options, callback) => {
      const { hostname } = options;
      // A literal address is not looked up.
      if (isIP(hostname) === 0 || guard.permits(hostname, onlyAllowed)) return connect(options, callback);
      callback(new ForbiddenAddress(`${hostname} may not be connected to`), null);
    };
  };
  const secure = connectorFor(false);
  const plain = connectorFor(plainHttp === 'to allowed ranges');
  return (options, callback) => (options.protocol === 'https:' ? secure : plain)(options, callback);
}
