import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readConfig, SettingError } from './config.ts';

const tracedBy = (others: Record<string, string>): Record<string, string> => ({
  OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318',
  ...others,
});

test('an invalid setting is refused in one line that says what is allowed', () => {
  const cases: [Record<string, string>, RegExp][] = [
    [{ PORT: 'http' }, /^PORT must be a whole number from 0 to 65535, not "http"/],
    [{ PORT: '70000' }, /^PORT must be/],
    [{ USHER_LOG: 'loud' }, /^USHER_LOG must be one of fatal, .*, not "loud"/],
    [{ USHER_LOG_LEVEL: 'loud' }, /^USHER_LOG_LEVEL must be one of fatal, .*, not "loud"/],
    [{ USHER_DATADIR: '/x' }, /^USHER_DATADIR is not a setting of Usher/],
    [{ USHER_ADMIN_KEY_ID: 'x' }, /go together/],
    [{ USHER_ADMIN_KEY_ID: 'x', USHER_ADMIN_KEY_SECRET: 'short' }, /16 to 256 characters/],
    [{ DATABASE_URL: 'mysql://root:hunter2@x/y' }, /^DATABASE_URL must look like postgres:/],
    [{ USHER_TRUST_PROXY: 'banana' }, /^USHER_TRUST_PROXY must be false, the number of proxies .*, not "banana"/],
    [{ USHER_TRUST_PROXY: '10.0.0.0/33' }, /^USHER_TRUST_PROXY must be/],
    [{ USHER_FILES: 'bucket' }, /^USHER_FILES must be a URL/],
    [{ USHER_FILES: 'https://bucket' }, /^USHER_FILES must begin with s3:/],
    [{ USHER_FILES: 's3://key:hunter2@bucket' }, /^USHER_FILES must not contain credentials/],
    [{ USHER_FILES: 's3://bucket?zone=1' }, /^USHER_FILES has an unknown parameter "zone"; known are endpoint, region/],
    [{ USHER_FILES: 's3://bucket?endpoint=store:9000' }, /^USHER_FILES must have an http or https URL/],
    [{ USHER_FILES: 's3://bucket?path_style=yes' }, /^USHER_FILES must have on or off as path_style/],
    [{ DATABASE_URL: 'postgres://x/y', DATABASE_URL_FILE: '/x' }, /^Set either DATABASE_URL or DATABASE_URL_FILE/],
    [{ DATABASE_URL_FILE: '/nowhere/url' }, /^DATABASE_URL_FILE cannot be used: ENOENT/],
    [{ USHER_SCANNER: 'http://clamd:3310' }, /^USHER_SCANNER must be clamd:\/\/host:3310, manual or none, not "http/],
    [{ USHER_SCANNER: 'clamd://' }, /^USHER_SCANNER must be/],
    [{ USHER_SCANNER: 'clamd://host:3310/path' }, /^USHER_SCANNER must be/],
    [{ USHER_WEBHOOK_ALLOW_CIDRS: '10.0.0.0/8, banana' }, /^USHER_WEBHOOK_ALLOW_CIDRS must be .*, not "banana"/],
    [{ USHER_WEBHOOK_ALLOW_CIDRS: '::1/129' }, /^USHER_WEBHOOK_ALLOW_CIDRS must be/],
    [{ USHER_DNS_SERVERS: '10.0.0.53, dns.example' }, /^USHER_DNS_SERVERS must be .*, not "dns.example"/],
    [{ USHER_DNS_SERVERS: '10.0.0.53:0' }, /^USHER_DNS_SERVERS must be/],
    [{ USHER_DATABASE_POOL: '1' }, /^USHER_DATABASE_POOL must be/],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4318' }, /^OTEL_EXPORTER_OTLP_ENDPOINT must be an http or https URL/],
    [{ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://x:hunter2@y' }, /^OTEL_EXPORTER_OTLP_TRACES_ENDPOINT must be/],
    [tracedBy({ OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }), /^OTEL_EXPORTER_OTLP_PROTOCOL must be http\/json, not "grpc"/],
    [tracedBy({ OTEL_EXPORTER_OTLP_HEADERS: 'hunter2' }), /^OTEL_EXPORTER_OTLP_HEADERS must be a list such as/],
    [tracedBy({ OTEL_EXPORTER_OTLP_HEADERS: 'key=%hunter2' }), /^OTEL_EXPORTER_OTLP_HEADERS must be a list such as/],
    [tracedBy({ OTEL_EXPORTER_OTLP_HEADERS: 'key=hunter2%0a' }), /^The value of key in OTEL_EXPORTER_OTLP_HEADERS/],
    [tracedBy({ OTEL_EXPORTER_OTLP_HEADERS: 'Host=hunter2' }), /^OTEL_EXPORTER_OTLP_HEADERS must not contain host/],
    [tracedBy({ OTEL_TRACES_SAMPLER: 'some' }), /^OTEL_TRACES_SAMPLER must be one of always_on, .*, not "some"/],
    [
      tracedBy({ OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '10%' }),
      /^OTEL_TRACES_SAMPLER_ARG must be a share from 0 to 1, such as 0.1, not "10%"/,
    ],
  ];
  for (const [environment, line] of cases)
    assert.throws(
      () => readConfig(environment),
      (error) => {
        assert.ok(error instanceof SettingError);
        assert.match(error.message, line);
        assert.doesNotMatch(error.message, /hunter2|\n/);
        return true;
      },
      JSON.stringify(environment),
    );
});

test('the log level has two names, and neither needs to be set', () => {
  const levelOf = (environment: Record<string, string>) => readConfig(environment).logLevel;
  assert.equal(levelOf({}), null);
  assert.equal(levelOf({ USHER_LOG_LEVEL: 'debug' }), 'debug');
  assert.equal(levelOf({ USHER_LOG: 'error', USHER_LOG_LEVEL: 'debug' }), 'error');
});

test('npx is recognised only where it runs usher itself, in the foreground', () => {
  const isRunByNpx = (event: string, script: string) =>
    readConfig({ npm_lifecycle_event: event, npm_lifecycle_script: script }).isRunByNpx;
  for (const script of ["'usher'", 'usher', '"usher" "serve"', 'usher serve']) assert.ok(isRunByNpx('npx', script));
  assert.ok(!isRunByNpx('start', 'usher serve'), 'an npm script may start it in the background');
  for (const script of ['usher serve &', 'pm2 start usher', "'concurrently'", 'usher-tools', ''])
    assert.ok(!isRunByNpx('npx', script), script);
  assert.equal(readConfig({}).isRunByNpx, false);
});

test('traces are sent to the endpoint of traces, or to a path below the endpoint of all signals', () => {
  const endpointOf = (environment: Record<string, string>) => readConfig(environment).tracing?.endpoint;
  const [all, own] = ['OTEL_EXPORTER_OTLP_ENDPOINT', 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'];
  assert.equal(endpointOf({ [all]: 'http://collector:4318' }), 'http://collector:4318/v1/traces');
  assert.equal(endpointOf({ [all]: 'https://collector/otlp/' }), 'https://collector/otlp/v1/traces');
  assert.equal(endpointOf({ [all]: 'http://other', [own]: 'http://collector/spans' }), 'http://collector/spans');
  assert.equal(endpointOf({ [own]: 'http://x/y', OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf' }), 'http://x/y');
  assert.equal(endpointOf({}), undefined);
  assert.equal(endpointOf({ [all]: 'http://collector:4318', OTEL_SDK_DISABLED: 'TRUE' }), undefined);
});

test('the samplers of the OpenTelemetry specification decide by the parent, by a share, or by both', () => {
  const samplerOf = (name: string, share = '') =>
    readConfig(tracedBy({ OTEL_TRACES_SAMPLER: name, OTEL_TRACES_SAMPLER_ARG: share })).tracing?.sampler;
  assert.deepEqual(samplerOf(''), { followsParent: true, ratio: 1 });
  assert.deepEqual(samplerOf('always_off'), { followsParent: false, ratio: 0 });
  assert.deepEqual(samplerOf('parentbased_always_on', '0.5'), { followsParent: true, ratio: 1 });
  assert.deepEqual(samplerOf('parentbased_traceidratio', '.25'), { followsParent: true, ratio: 0.25 });
  assert.deepEqual(samplerOf('traceidratio'), { followsParent: false, ratio: 1 });
});
