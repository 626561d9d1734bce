import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readConfig } from '../config.ts';
import { StartError } from '../platform/errors.ts';
import {
  connectionOf,
  eventTypesOf,
  httpUrl,
  instantAsked,
  readOptions,
  serverOptions,
  wholeNumber,
} from './options.ts';

/** In one line. */
function refuses(run: () => unknown, line: RegExp): void {
  assert.throws(run, (error) => {
    assert.ok(error instanceof StartError);
    assert.match(error.message, line);
    return !error.message.includes('\n');
  });
}

test('where to and by which key: the flags, or the settings of a server here', () => {
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
  refuses(() => connectionOf(readConfig({}), {}), /^Give an API key/);
  refuses(() => connectionOf(readConfig(own), { 'key-id': 'me' }), /go together/);
  refuses(() => connectionOf(readConfig({}), { url: 'ftp://x', ...key }), /^--url must be an http or https URL/);
});

test('URLs, and what is in those that are refused is not repeated', () => {
  assert.equal(httpUrl('--forward-to', 'http://localhost:3000/hook?a=b').href, 'http://localhost:3000/hook?a=b');
  for (const text of ['', 'localhost:3000', 'file:///etc/passwd', 'http://', 'https://me:hunter2@localhost'])
    refuses(() => httpUrl('--forward-to', text), /^--forward-to must be [^\d]*http:\/\/127\.0\.0\.1:8080\.$/);
});

test('event types by name, both names of the one that has two, and nothing that is none', () => {
  assert.equal(eventTypesOf('--events', undefined), null);
  assert.deepEqual(eventTypesOf('--events', 'engagement.chat.message.status, engagement.chat.message_status'), [
    'engagement.chat.message.status',
    'engagement.chat.message_status',
  ]);
  for (const text of ['', 'engagement.start,', 'nonsense', 'media_upgrade_request.state', 'feed.open'])
    refuses(() => eventTypesOf('--events', text), /^--events: there is no event type ".*"\. There are: engagement\./);
});

test('instants: a date and time with its offset, or how long ago', () => {
  const now = Date.parse('2027-01-31T12:00:00Z');
  const read = (text: string): string => instantAsked('--since', text, now).toISOString();
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

test('whole numbers, and flags that are none of ours', () => {
  assert.equal(wholeNumber('--limit', '20', 100), 20);
  for (const text of ['0', '101', '-1', '1.5', 'x', ''])
    refuses(() => wholeNumber('--limit', text, 100), /^--limit must be/);
  assert.equal(readOptions('listen', serverOptions, ['--json']).json, true);
  for (const [args, line] of [
    [['--loud'], /^Unknown option '--loud'\. See usher listen --help\.$/],
    [['now'], /^Unexpected argument 'now'\. See/],
    [['--url'], /^Option '--url <value>' argument missing\. See/],
    [['--json=yes'], /^Option '--json' does not take an argument\. See/],
  ] as const)
    refuses(() => readOptions('listen', serverOptions, args), line);
});
