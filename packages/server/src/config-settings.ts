import { carrierSettings } from './carriers/carriers.ts';

interface Setting {
  readonly name: string;
  readonly fallback: string;
  readonly meaning: string;
}

/** Every setting, in the order of docs/guide/settings.md. */
export const settings = [
  { name: 'PORT', fallback: '8080', meaning: 'Port to serve on' },
  { name: 'HOST', fallback: '127.0.0.1', meaning: 'Address to serve on; `0.0.0.0` or `::` for every interface' },
  { name: 'USHER_DATA_DIR', fallback: './data', meaning: 'Folder of the embedded database and uploaded files' },
  {
    name: 'DATABASE_URL',
    fallback: '',
    meaning:
      'Your own PostgreSQL (15 or newer), `postgres://user:password@host:port/database`; unset, the embedded one is started',
  },
  {
    name: 'DATABASE_URL_FILE',
    fallback: '',
    meaning:
      'File with that URL, instead of `DATABASE_URL`; read again for each connection, so that the password can change',
  },
  {
    name: 'USHER_DATABASE_POOL',
    fallback: '33',
    meaning: 'Connections to the database that a process may open, 25 to 250; 23 are for background work',
  },
  {
    name: 'USHER_MIGRATE',
    fallback: 'on',
    meaning: 'Whether a start migrates the schema; with `off`, run `usher migrate` before a new version',
  },
  { name: 'USHER_ADMIN_KEY_ID', fallback: '', meaning: "Id of the first super_manager's API key" },
  {
    name: 'USHER_ADMIN_KEY_SECRET',
    fallback: '',
    meaning: 'Secret of that key, at least 16 characters; without both, the first start creates a key and prints it',
  },
  {
    name: 'USHER_METRICS_PORT',
    fallback: '',
    meaning: 'Port for `/metrics` alone, on the address of `HOST`; unset, `/metrics` is on `PORT`',
  },
  {
    name: 'USHER_LOG',
    fallback: '',
    meaning:
      'Least level that is logged: fatal, error, warn, info, debug, trace or silent; unset, warn on a terminal and info elsewhere',
  },
  { name: 'USHER_LOG_LEVEL', fallback: '', meaning: 'Former name of `USHER_LOG`, which comes first' },
  {
    name: 'USHER_TRUST_PROXY',
    fallback: 'false',
    meaning:
      'Proxies in front of Usher whose `X-Forwarded-*` headers are trusted: their number, such as `1`, or their addresses',
  },
  {
    name: 'USHER_RATE_LIMIT_PER_TOKEN',
    fallback: '6000',
    meaning: 'Requests per minute for each token, and for all visitors of one address together',
  },
  {
    name: 'USHER_RATE_LIMIT_SIGN_IN',
    fallback: '60',
    meaning:
      'Sign-in attempts per minute and address; also wrong passwords per e-mail address (a sixth of it from one address)',
  },
  {
    name: 'USHER_PUBLIC_URL',
    fallback: '',
    meaning:
      'Prefix of links, may have a path; unset, links in events start with the address that `npm start` prints, other links are paths',
  },
  {
    name: 'USHER_EVENT_RETENTION_DAYS',
    fallback: '30',
    meaning: 'Days for which events and the audit log are kept, 1 to 3650',
  },
  {
    name: 'USHER_PRESENCE_RETENTION_DAYS',
    fallback: '400',
    meaning: "Days for which operators' presence intervals are kept, for statistics of their time, 1 to 3650",
  },
  {
    name: 'USHER_FILES',
    fallback: '',
    meaning: 'Bucket for uploaded files, `s3://bucket/prefix?endpoint=…`; unset, they are in `USHER_DATA_DIR`',
  },
  {
    name: 'USHER_SCANNER',
    fallback: '',
    meaning:
      'Scanner of uploads: `clamd://host:3310`, `manual` or `none`; unset, `none` with the embedded database, else uploads are refused',
  },
  {
    name: 'USHER_WEBHOOK_ALLOW_CIDRS',
    fallback: '',
    meaning:
      'Private networks that Usher may call, such as `10.1.0.0/16,::1`; unset with the embedded database: loopback, for registered webhooks',
  },
  {
    name: 'USHER_DNS_SERVERS',
    fallback: '',
    meaning: 'DNS servers for host names of receivers, such as `10.0.0.53,[fd00::53]:5353`; unset, those of the system',
  },
  ...carrierSettings,
  {
    name: 'USHER_APNS_KEY_FILE',
    fallback: '',
    meaning: 'Key file (`.p8`) for Apple push notifications; set all three or none',
  },
  { name: 'USHER_APNS_KEY_ID', fallback: '', meaning: 'Id of that key, 10 capital letters and digits' },
  { name: 'USHER_APNS_TEAM_ID', fallback: '', meaning: 'Id of your team at Apple, 10 capital letters and digits' },
  {
    name: 'USHER_APNS_SANDBOX_URL',
    fallback: 'https://api.sandbox.push.apple.com',
    meaning: 'Push service for `env=sandbox`',
  },
  {
    name: 'USHER_APNS_PRODUCTION_URL',
    fallback: 'https://api.push.apple.com',
    meaning: 'Push service for `env=production`',
  },
  {
    name: 'USHER_ICE_SERVERS',
    fallback: '',
    meaning:
      'STUN and TURN servers for calls, such as `stun:stun.example.com,turns:turn.example.com:443?transport=tcp`',
  },
  {
    name: 'USHER_TURN_SECRET',
    fallback: '',
    meaning: "Secret shared with the TURN servers, coturn's `static-auth-secret`, at least 16 characters",
  },
  {
    name: 'USHER_MCP',
    fallback: 'off',
    meaning:
      'Whether `/mcp` serves tools for AI assistants, with the rights of the token that they send: `on` or `off`',
  },
  {
    name: 'OTEL_EXPORTER_OTLP_ENDPOINT',
    fallback: '',
    meaning:
      'OpenTelemetry collector that is sent traces, such as `http://127.0.0.1:4318`; `/v1/traces` is added. Unset, nothing is traced',
  },
  {
    name: 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
    fallback: '',
    meaning: 'The same for traces alone, with the whole path; used instead of the former',
  },
  {
    name: 'OTEL_EXPORTER_OTLP_HEADERS',
    fallback: '',
    meaning: 'Headers of requests to the collector, `name=value,…`, with values percent-encoded',
  },
  {
    name: 'OTEL_EXPORTER_OTLP_PROTOCOL',
    fallback: 'http/json',
    meaning:
      '`http/json`; with `http/protobuf` JSON is sent too, which collectors accept at the same URL; `grpc` is refused',
  },
  { name: 'OTEL_SERVICE_NAME', fallback: 'usher', meaning: 'Name of the service in traces' },
  {
    name: 'OTEL_RESOURCE_ATTRIBUTES',
    fallback: '',
    meaning: 'More attributes of all spans, such as `deployment.environment.name=staging`',
  },
  {
    name: 'OTEL_TRACES_SAMPLER',
    fallback: 'parentbased_always_on',
    meaning:
      'Which traces are sent: always_on, always_off or traceidratio; with `parentbased_` before it, `traceparent` of a request decides first if its caller is in `USHER_TRACE_TRUST_CIDRS`',
  },
  {
    name: 'OTEL_TRACES_SAMPLER_ARG',
    fallback: '1',
    meaning: 'With traceidratio: the share of traces that is sent, 0 to 1',
  },
  {
    name: 'USHER_TRACE_TRUST_CIDRS',
    fallback: '',
    meaning: 'Networks of callers whose `traceparent` decides which traces are sent. That of all others never does',
  },
  { name: 'OTEL_SDK_DISABLED', fallback: 'false', meaning: 'With `true`, nothing is traced, whatever the others say' },
] as const satisfies readonly Setting[];

export type SettingName = (typeof settings)[number]['name'];
