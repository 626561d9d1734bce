import assert from 'node:assert/strict';
import { test } from 'node:test';
import { command, parseCommandLine } from './command.ts';
import { readConfig } from '../config.ts';
import { StartError } from '../platform/errors.ts';
import { connectionOf, eventTypesOf, httpUrl, parseInstant, serverOptions, wholeNumber } from './options.ts';

/** In one line. */
function refuses(run: () => unknown, line: RegExp): void {
  assert.throws(run, (error) => {
    assert.ok(error instanceof StartError);
    assert.match(error.message, line);
    return !error.message.includes('\n');
  });
}

test('URL and API key come from the flags, or else from the settings of a local server', () => {
  const key = { 'key-id': 'me', 'key-secret': 'mine' };
  const own = {
    USHER_ADMIN_KEY_ID: 'admin',
    USHER_ADMIN_KEY_SECRET: 'correct-horse-battery',
    PORT: '9000',
    HOST: '::',
  };
  const admin = { id: 'admin', secret: 'correct-horse-battery' };
  assert.deepEqual(connectionOf(readConfig(own), {}), { url: 'http://127.0.0.1:9000', key: admin });
  assert.deepEqual(connectionOf(readConfig(own), { url: 'https://usher.example/api/', ...key }), {
    url: 'https://usher.example/api',
    key: { id: 'me', secret: 'mine' },
  });
  assert.equal(connectionOf(readConfig({ HOST: '::1' }), key).url, 'http://[::1]:8080');
  refuses(() => connectionOf(readConfig({}), {}, () => null), /^Give an API key .* or log in with usher login\.$/);
  refuses(() => connectionOf(readConfig(own), { 'key-id': 'me' }), /go together/);
  refuses(() => connectionOf(readConfig({}), { url: 'ftp://x', ...key }), /^--url must be an http or https URL/);
});

test('without flags and settings, the profile is used, and its key is sent to no other server', () => {
  const profile = { url: 'https://usher.example', key: { id: 'me', secret: 'mine' } };
  const read = () => profile;
  assert.deepEqual(connectionOf(readConfig({}), {}, read), profile);
  assert.deepEqual(connectionOf(readConfig({}), { url: 'https://usher.example/' }, read), profile);
  refuses(() => connectionOf(readConfig({}), { url: 'https://other.example' }, read), /^You are logged in to https:/);
  const own = { USHER_ADMIN_KEY_ID: 'admin', USHER_ADMIN_KEY_SECRET: 'correct-horse-battery' };
  assert.equal(connectionOf(readConfig(own), {}, read).url, 'http://127.0.0.1:8080');
});

test('an invalid URL is refused without being repeated in the message', () => {
  assert.equal(httpUrl('--forward-to', 'http://localhost:3000/hook?a=b').href, 'http://localhost:3000/hook?a=b');
  for (const text of ['', 'localhost:3000', 'file:///etc/passwd', 'http://', 'https://me:hunter2@localhost'])
    refuses(() => httpUrl('--forward-to', text), /^--forward-to must be [^\d]*http:\/\/127\.0\.0\.1:8080\.$/);
});

test('event types are given by name, including both names of the message status, and unknown names are refused', () => {
  assert.equal(eventTypesOf('--events', undefined), null);
  assert.deepEqual(eventTypesOf('--events', 'engagement.chat.message.status, engagement.chat.message_status'), [
    'engagement.chat.message.status',
    'engagement.chat.message_status',
  ]);
  for (const text of ['', 'engagement.start,', 'nonsense', 'media_upgrade_request.state', 'feed.open'])
    refuses(
      () => eventTypesOf('--events', text),
      /^--events: ".*" is not an event type\. The event types are: engagement\./,
    );
});

test('an instant is a date and time with an offset, or an age', () => {
  const now = Date.parse('2027-01-31T12:00:00Z');
  const read = (text: string): string => parseInstant('--since', text, now).toISOString();
  assert.equal(read('2027-01-31T09:00:00Z'), '2027-01-31T09:00:00.000Z');
  assert.equal(read('2027-01-31T09:00+02:00'), '2027-01-31T07:00:00.000Z');
  assert.equal(read('2027-01-30'), '2027-01-30T00:00:00.000Z');
  assert.equal(read('90s'), '2027-01-31T11:58:30.000Z');
  assert.equal(read('15m'), '2027-01-31T11:45:00.000Z');
  assert.equal(read('2h'), '2027-01-31T10:00:00.000Z');
  assert.equal(read('7d'), '2027-01-24T12:00:00.000Z');
  for (const text of ['', 'yesterday', '2027-01-31T09:00:00', '2027-13-01', '5', '5y', '-5m', '99999d', '12:00'])
    refuses(() => read(text), /^--since must be a date and time such as /);
});

const listening = command({ help: '', options: serverOptions, run: async () => undefined });

test('numbers must be whole and in range, and unknown flags are refused', () => {
  assert.equal(wholeNumber('--limit', '20', 100), 20);
  for (const text of ['0', '101', '-1', '1.5', 'x', ''])
    refuses(() => wholeNumber('--limit', text, 100), /^--limit must be/);
  const parse = (args: readonly string[]) => parseCommandLine('listen', listening, args);
  assert.equal(parse(['--json'])?.flags.json, true);
  assert.equal(parse(['--help', '--json']), null);
  for (const [args, line] of [
    [['--loud'], /^Unknown option '--loud'\. See usher listen --help\.$/],
    [['now'], /^Unexpected argument "now"\. See/],
    [['--url'], /^Option '--url <value>' argument missing\. See/],
    [['--json=yes'], /^Option '--json' does not take an argument\. See/],
  ] as const)
    refuses(() => parse(args), line);
});
