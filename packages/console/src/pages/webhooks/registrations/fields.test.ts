import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Webhook } from '@usher/sdk/api-types';
import { bodyOf, fieldsOf } from './fields.ts';

const push = (url: string): Webhook => ({
  id: 'id',
  url,
  method: null,
  headers: null,
  events: ['engagement.start'],
  site_ids: null,
  description: null,
  ordering: 'engagement',
  enabled: true,
  disabled_because: null,
  disabled_at: null,
  failing_since: null,
  created_at: '2026-01-01T00:00:00.000Z',
  updated_at: '2026-01-01T00:00:00.000Z',
  registered_by: null,
  covered_site_ids: [],
  filter: null,
});

test('saving a push webhook keeps its exact URL while no field of the URL is edited', () => {
  for (const url of [
    'apns://0a1b@com.example.App?env=sandbox',
    'APNS://0a1b@com.example.App?content_available=1&env=production&badge=2',
    'apns://0a1b@com.example.App?env=sandbox&content_available=false',
  ]) {
    const fields = fieldsOf(push(url));
    assert.equal(bodyOf({ ...fields, description: 'Phone' }).url, url);
  }
});

test('parameters that the form does not show are kept when the push target is edited', () => {
  const fields = fieldsOf(push('apns://0a1b@com.example.App?badge=2&env=sandbox&content_available=1&sound=a%20b'));
  const edited = { ...fields, push: { ...fields.push, environment: 'production' as const } };
  assert.equal(
    bodyOf(edited).url,
    'apns://0a1b@com.example.App?env=production&content_available=true&badge=2&sound=a+b',
  );
});
