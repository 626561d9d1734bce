import assert from 'node:assert/strict';
import { test } from 'node:test';
import { UsherError, UsherUnreachable } from '@usher/sdk/errors';
import { describeError } from './describe-error.ts';

const detail = '/content is image/svg+xml by its bytes; 26214400 bytes at most (allowed_file_senders).';

test("visitors never read the server's text, which is for developers", () => {
  const codes = ['invalid_request', 'body_too_large', 'too_many', 'forbidden', 'engagement_ended', 'not_known_yet'];
  for (const error of codes) {
    const text = describeError(new UsherError({ status: 422, error, detail, details: [] }));
    assert.doesNotMatch(text, /[/_\d]|bytes/, error);
    assert.match(text, /^[A-Z].*\.$/, error);
  }
  assert.match(describeError(new UsherUnreachable('x')), /connection/);
  assert.match(describeError(new TypeError('x is undefined')), /Something went wrong/);
});
