import { isIP } from 'node:net';
import { buildConnector } from 'undici';
import { ForbiddenAddress, type AddressGuard } from './address-guard.ts';

/** Connects to addresses that the guard has checked, and verifies certificates. */
export function guardedConnector(
  guard: AddressGuard,
  httpOnlyAllowed: boolean,
  timeout: number,
): buildConnector.connector {
  const connectorFor = (onlyAllowed: boolean): buildConnector.connector => {
    const connect = buildConnector({ lookup: guard.lookupFor(onlyAllowed), timeout, allowH2: false });
    return (options, callback) => {
      const { hostname } = options;
      // A literal address is not looked up.
      if (isIP(hostname) === 0 || guard.permits(hostname, onlyAllowed)) return connect(options, callback);
      callback(new ForbiddenAddress(`${hostname} may not be connected to`), null);
    };
  };
  const secure = connectorFor(false);
  const plain = connectorFor(httpOnlyAllowed);
  return (options, callback) => (options.protocol === 'https:' ? secure : plain)(options, callback);
}
