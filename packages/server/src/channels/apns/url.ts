/** The parts of `apns://<device_token>@<topic>?env=…&content_available=…`. */
export interface ApnsTarget {
  readonly deviceToken: string;
  /** The application's bundle id; case-sensitive. */
  readonly topic: string;
  readonly environment: 'sandbox' | 'production';
  /** Whether the notification is silent. */
  readonly contentAvailable: boolean;
}

// Apple's tokens are hexadecimal and have no guaranteed length. Anything that is safe in a path is accepted; Apple decides.
const shape = /^apns:\/\/([\w-]{1,200})@([A-Za-z0-9._-]{1,255})(?:\?([^#]*))?$/i;
/** Keys are in lower case. */
const booleans: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['1', true],
  ['false', false],
  ['0', false],
]);
const environments = ['sandbox', 'production'] as const;

/** The target, or everything that is wrong with the URL. */
export function parseApnsUrl(url: string): ApnsTarget | { readonly faults: readonly string[] } {
  const [, deviceToken, topic, query = ''] = shape.exec(url) ?? [];
  if (deviceToken === undefined || topic === undefined) {
    return { faults: ['must look like apns://<device_token>@<topic>?env=sandbox'] };
  }
  const parameters = new URLSearchParams(query);
  const environment = environments.find((known) => known === parameters.get('env'));
  const silent = booleans.get((parameters.get('content_available') ?? 'false').toLowerCase());
  // Unknown parameters are ignored: the interface allows any after the topic.
  const faults = [
    ...['env', 'content_available'].flatMap((name) => repetitionFaults(name, parameters.getAll(name).length)),
    ...(environment === undefined ? ['must have the query parameter env=sandbox or env=production'] : []),
    ...(silent === undefined ? ['must have true or false as the query parameter content_available'] : []),
  ];
  if (faults.length > 0 || environment === undefined || silent === undefined) return { faults };
  return { deviceToken, topic, environment, contentAvailable: silent };
}

function repetitionFaults(name: string, times: number): string[] {
  return times <= 1 ? [] : [`must not have the query parameter ${name} more than once`];
}
