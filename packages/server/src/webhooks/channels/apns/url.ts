/** `apns://<device_token>@<topic>?env=…&content_available=…`, taken apart. */
export interface ApnsTarget {
  readonly deviceToken: string;
  /** The application's bundle id; its case counts. */
  readonly topic: string;
  readonly environment: 'sandbox' | 'production';
  /** Whether the notification is silent. */
  readonly contentAvailable: boolean;
}

// Apple's tokens are hexadecimal and of no promised length. Anything that is safe in a path is left for Apple to judge.
const shape = /^apns:\/\/([\w-]{1,200})@([A-Za-z0-9._-]{1,255})(?:\?([^#]*))?$/i;
/** Written in any case. */
const booleans: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['1', true],
  ['false', false],
  ['0', false],
]);
const environments = ['sandbox', 'production'] as const;

/** Whether a push notification is what is sent there. */
export function isApns(url: string): boolean {
  return /^apns:/i.test(url);
}

/** The target, or everything that is wrong with the URL. */
export function parseApnsUrl(url: string): ApnsTarget | { readonly faults: readonly string[] } {
  const [, deviceToken, topic, query = ''] = shape.exec(url) ?? [];
  if (deviceToken === undefined || topic === undefined) {
    return { faults: ['must look like apns://<device_token>@<topic>?env=sandbox'] };
  }
  const parameters = new URLSearchParams(query);
  const environment = environments.find((known) => known === parameters.get('env'));
  const silent = booleans.get((parameters.get('content_available') ?? 'false').toLowerCase());
  // Parameters that are not known are ignored: the document lets any follow the topic.
  const faults = [
    ...['env', 'content_available'].flatMap((name) => repetitionFaults(name, parameters.getAll(name).length)),
    ...(environment === undefined ? ['must have the query parameter env, sandbox or production'] : []),
    ...(silent === undefined ? ['must have true or false in the query parameter content_available'] : []),
  ];
  if (faults.length > 0 || environment === undefined || silent === undefined) return { faults };
  return { deviceToken, topic, environment, contentAvailable: silent };
}

function repetitionFaults(name: string, times: number): string[] {
  return times <= 1 ? [] : [`must not have the query parameter ${name} more than once`];
}
