import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLog } from '../log.ts';
import { terminalLine, type Paint } from './terminal-log.ts';

const plain: Paint = (_style, text) => text;
const marked: Paint = (style, text) => `<${String(style)}>${text}</>`;

/** The lines that are shown, without their times. */
function shown(paint: Paint, write: (log: ReturnType<typeof createLog>) => void): string {
  let text = '';
  write(createLog('debug', { write: (line) => void (text += terminalLine(line, paint)) }));
  return text;
}

test('a request is shown with its time, method, path, status and milliseconds', () => {
  const request = { request_id: 'r', method: 'GET', route: '/queues/:id', status: 404, ms: 3.25, caller: '-' };
  const text = shown(plain, (log) => log.info({ ...request, error: 'not_found' }));
  assert.match(text, /^\d\d:\d\d:\d\d GET \/queues\/:id 404 not_found 3\.3 ms\n$/);
  const status = (code: number): string => shown(marked, (log) => log.info({ ...request, status: code, ms: 1 }));
  assert.match(status(200), /<green>200<\/> <dim>1\.0 ms<\/>/);
  assert.match(status(404), /<yellow>404<\/>/);
  assert.match(status(503), /<red>503<\/>/);
});

test('other lines are shown with their level, text and fields; an error with its stack and its causes', () => {
  assert.match(
    shown(plain, (log) => log.info({ migration: '0040_x.sql', ms: 12 }, 'migrated')),
    / migrated migration=0040_x\.sql ms=12\n$/,
  );
  assert.match(
    shown(marked, (log) => log.warn('careful')),
    / <yellow>warn<\/>: careful\n$/,
  );
  const error = new Error('no', { cause: new Error('deeper') });
  const text = shown(plain, (log) => log.error({ err: error }, 'could not'));
  assert.match(text, / error: could not\n {2}Error: no\n {6}at .*\n(?: {6}at .*\n)* {2}caused by Error: deeper\n/);
});

test('control characters of a logged text do not reach the terminal', () => {
  const text = shown(plain, (log) =>
    log.warn({ name: 'a\u{9b}31mb', err: new Error('\u{1b}]0;title\u{7}') }, 'c\u{1b}[2Jd\r'),
  );
  assert.doesNotMatch(text.replaceAll('\n', ''), /\p{Cc}/u);
  assert.match(text, /c\\x1b\[2Jd\\x0d name=a\\x9b31mb\n/);
});
