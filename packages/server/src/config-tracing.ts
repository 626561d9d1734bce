import { isNetwork } from './config-addresses.ts';
import { SettingError } from './config-error.ts';
import type { SettingName } from './config-settings.ts';

/** Where spans are sent, and which. The variables are those of the OpenTelemetry specification. */
export interface TracingSettings {
  /** The URL that accepts OTLP over HTTP. */
  readonly endpoint: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Attributes of all spans; `service.name` is one of them. */
  readonly resource: Readonly<Record<string, string>>;
  readonly sampler: SamplerSettings;
  /** Networks of callers whose `traceparent` decides about sampling. That of others never does. */
  readonly trustedNetworks: readonly string[];
}

export interface SamplerSettings {
  /** A request of a trusted caller with a `traceparent` is sampled if the caller has sampled it. */
  readonly followsParent: boolean;
  /** The share of the other traces that is sampled, 0 to 1. */
  readonly ratio: number;
}

type Read = (name: SettingName) => string;

/** `null`: nothing is traced. */
export function tracingSettings(read: Read): TracingSettings | null {
  if (read('OTEL_SDK_DISABLED').toLowerCase() === 'true') return null;
  const endpoint = endpointOf(read);
  if (endpoint === null) return null;
  refuseOtherProtocols(read('OTEL_EXPORTER_OTLP_PROTOCOL'));
  return Object.freeze({
    endpoint,
    headers: headersOf(read('OTEL_EXPORTER_OTLP_HEADERS')),
    resource: {
      ...Object.fromEntries(pairsOf('OTEL_RESOURCE_ATTRIBUTES', read('OTEL_RESOURCE_ATTRIBUTES'))),
      'service.name': read('OTEL_SERVICE_NAME'),
    },
    trustedNetworks: networksOf(read('USHER_TRACE_TRUST_CIDRS')),
    sampler: samplerOf(read('OTEL_TRACES_SAMPLER'), read('OTEL_TRACES_SAMPLER_ARG')),
  });
}

/** The endpoint of traces is used as it is; to the endpoint of all signals the path of traces is added. */
function endpointOf(read: Read): string | null {
  const own = read('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT');
  if (own !== '') return collectorUrl('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', own).href;
  const shared = read('OTEL_EXPORTER_OTLP_ENDPOINT');
  if (shared === '') return null;
  const url = collectorUrl('OTEL_EXPORTER_OTLP_ENDPOINT', shared);
  return `${url.href}${url.href.endsWith('/') ? '' : '/'}v1/traces`;
}

/** The message does not repeat the value, which may contain a password. */
function collectorUrl(name: SettingName, value: string): URL {
  const url = URL.canParse(value) ? new URL(value) : null;
  const isPlain = url !== null && `${url.username}${url.password}${url.search}${url.hash}` === '';
  if (isPlain && ['http:', 'https:'].includes(url.protocol)) return url;
  throw new SettingError(
    `${name} must be an http or https URL such as http://127.0.0.1:4318, without credentials, query or fragment. ` +
      'Set credentials in OTEL_EXPORTER_OTLP_HEADERS.',
  );
}

/** With `http/protobuf`, which many environments set for all programs, JSON is sent too: collectors accept both at the same URL. */
function refuseOtherProtocols(protocol: string): void {
  if (protocol === 'http/json' || protocol === 'http/protobuf') return;
  throw new SettingError(
    `OTEL_EXPORTER_OTLP_PROTOCOL must be http/json, not "${protocol}", which Usher does not speak. Set it to http/json and the ` +
      "endpoint to the collector's port for HTTP, usually 4318. To trace nothing, set OTEL_SDK_DISABLED to true.",
  );
}

/** `key=value,key=value` with percent-encoded values, as in W3C Baggage. The messages never repeat a value, which may be a secret. */
function pairsOf(name: SettingName, list: string): (readonly [string, string])[] {
  const parts = list.split(',').map((part) => part.trim());
  return parts
    .filter((part) => part !== '')
    .map((part) => {
      const at = part.indexOf('=');
      const key = part.slice(0, Math.max(at, 0)).trim();
      const value = decoded(part.slice(at + 1).trim());
      if (at >= 0 && /^[!#$%&'*+.^_`|~\w-]{1,256}$/.test(key) && value !== null) return [key, value];
      throw new SettingError(`${name} must be a list such as key=value,other=value, with values percent-encoded.`);
    });
}

function decoded(value: string): string | null {
  try {
    return decodeURIComponent(value);
  } catch {
    return null;
  }
}

/** Headers that describe the request itself, which Usher sets. */
const ownHeaders: ReadonlySet<string> = new Set([
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'host',
  'transfer-encoding',
]);

function headersOf(list: string): Record<string, string> {
  const name = 'OTEL_EXPORTER_OTLP_HEADERS';
  const headers = pairsOf(name, list).map(([key, value]) => [key.toLowerCase(), value] as const);
  for (const [key, value] of headers) {
    if (ownHeaders.has(key)) throw new SettingError(`${name} must not contain ${key}, which Usher sets itself.`);
    if (!/^[\x20-\x7e]{0,4096}$/.test(value))
      throw new SettingError(`The value of ${key} in ${name} must be at most 4096 printable ASCII characters.`);
  }
  return Object.fromEntries(headers);
}

function networksOf(list: string): readonly string[] {
  const networks = list
    .split(',')
    .map((network) => network.trim())
    .filter((network) => network !== '');
  const wrong = networks.find((network) => !isNetwork(network));
  if (wrong === undefined) return networks;
  throw new SettingError(`USHER_TRACE_TRUST_CIDRS must be a list of networks such as 10.0.0.0/8, not "${wrong}".`);
}

const samplers = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
];

function samplerOf(name: string, argument: string): SamplerSettings {
  if (!samplers.includes(name))
    throw new SettingError(`OTEL_TRACES_SAMPLER must be one of ${samplers.join(', ')}, not "${name}".`);
  const followsParent = name.startsWith('parentbased_');
  if (!name.endsWith('traceidratio')) return { followsParent, ratio: name.endsWith('_on') ? 1 : 0 };
  if (/^(?:0?\.\d{1,15}|[01](?:\.0{0,15})?)$/.test(argument)) return { followsParent, ratio: Number(argument) };
  throw new SettingError(`OTEL_TRACES_SAMPLER_ARG must be a share from 0 to 1, such as 0.1, not "${argument}".`);
}
