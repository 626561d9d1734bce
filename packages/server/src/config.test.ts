import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readConfig, SettingError } from './config.ts';

test('an invalid setting is refused in one line that says what is allowed', () => {
  const cases: [Record<string, string>, RegExp][] = [
    [{ PORT: 'http' }, /^PORT must be a whole number from 0 to 65535, not "http"/],
    [{ PORT: '70000' }, /^PORT must be/],
    [{ USHER_LOG_LEVEL: 'loud' }, /^USHER_LOG_LEVEL must be one of fatal, .*, not "loud"/],
    [{ USHER_DATADIR: '/x' }, /^USHER_DATADIR is not a setting of Usher/],
    [{ USHER_ADMIN_KEY_ID: 'x' }, /go together/],
    [{ USHER_ADMIN_KEY_ID: 'x', USHER_ADMIN_KEY_SECRET: 'short' }, /16 to 256 characters/],
    [{ DATABASE_URL: 'mysql://root:hunter2@x/y' }, /^DATABASE_URL must look like postgres:/],
    [{ USHER_TRUST_PROXY: 'banana' }, /^USHER_TRUST_PROXY must be false, the number of proxies .*, not "banana"/],
    [{ USHER_TRUST_PROXY: '10.0.0.0/33' }, /^USHER_TRUST_PROXY must be/],
    [{ USHER_SCANNER: 'http://clamd:3310' }, /^USHER_SCANNER must be clamd:\/\/host:3310, manual or none, not "http/],
    [{ USHER_SCANNER: 'clamd://' }, /^USHER_SCANNER must be/],
    [{ USHER_SCANNER: 'clamd://host:3310/path' }, /^USHER_SCANNER must be/],
    [{ USHER_WEBHOOK_ALLOW_CIDRS: '10.0.0.0/8, banana' }, /^USHER_WEBHOOK_ALLOW_CIDRS must be .*, not "banana"/],
    [{ USHER_WEBHOOK_ALLOW_CIDRS: '::1/129' }, /^USHER_WEBHOOK_ALLOW_CIDRS must be/],
    [{ USHER_DNS_SERVERS: '10.0.0.53, dns.example' }, /^USHER_DNS_SERVERS must be .*, not "dns.example"/],
    [{ USHER_DNS_SERVERS: '10.0.0.53:0' }, /^USHER_DNS_SERVERS must be/],
    [{ USHER_DATABASE_POOL: '1' }, /^USHER_DATABASE_POOL must be/],
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
