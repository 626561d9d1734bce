import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ProblemError, Unreachable } from '@usher/client/problem';
import { reasonOf } from './reasons.ts';

const detail = '/content is image/svg+xml by its bytes; 26214400 bytes at most (allowed_file_senders).';

test('visitors never read what a refusal says to developers', () => {
  const codes = ['invalid_request', 'body_too_large', 'too_many', 'forbidden', 'engagement_ended', 'not_known_yet'];
  for (const error of codes) {
    const reason = reasonOf(new ProblemError({ status: 422, error, detail, details: [] }));
    assert.doesNotMatch(reason, /[/_\d]|bytes/, error);
    assert.match(reason, /^[A-Z].*\.$/, error);
  }
  assert.match(reasonOf(new Unreachable('x')), /connection/);
  assert.match(reasonOf(new TypeError('x is undefined')), /Something went wrong/);
});
