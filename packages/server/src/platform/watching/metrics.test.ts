import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RequestTimes } from './metrics.ts';

test('a histogram is rendered for Prometheus: each bucket includes the smaller ones', () => {
  const times = new RequestTimes();
  for (const seconds of [0.001, 0.002, 0.3, 60]) times.of('GET', '/a').observe(200, seconds);
  times.of('GET', '/a').observe(404, 0.01);
  const lines = times.render().trim().split('\n');
  const value = (line: string): number =>
    Number(
      lines
        .find((found) => found.startsWith(line))
        ?.split(' ')
        .at(-1),
    );
  const labels = 'method="GET",route="/a",status="200"';
  const bucket = (bound: string): number =>
    value(`usher_http_request_duration_seconds_bucket{le="${bound}",${labels}}`);
  assert.deepEqual(['0.001', '0.0025', '0.25', '0.5', '10', '+Inf'].map(bucket), [1, 2, 2, 3, 3, 4]);
  assert.equal(value(`usher_http_request_duration_seconds_count{${labels}}`), 4);
  assert.equal(value(`usher_http_request_duration_seconds_sum{${labels}}`), 60.303);
  assert.equal(value('usher_http_request_duration_seconds_count{method="GET",route="/a",status="404"}'), 1);
});
