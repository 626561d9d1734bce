import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Ajv } from 'ajv';
import formats from 'ajv-formats';
import { eventTypes } from './catalogue.ts';
import { sampleEvent, schemaOf } from './make-event.ts';

const ajv = new Ajv({ strict: true, allowUnionTypes: true });
formats.default(ajv);
const id = '7c9e6679-7425-40de-944b-e07fc1f90ae7';
const at = new Date('2027-03-04T05:06:07.089Z');

for (const type of eventTypes) {
  test(`the sample of ${type} fits its published schema, with the given id and time`, () => {
    const sample: object = JSON.parse(JSON.stringify(sampleEvent(type, { id, at })));
    const fits = ajv.compile(JSON.parse(JSON.stringify(schemaOf(type))));
    assert.ok(fits(sample), JSON.stringify(fits.errors));
    const { event_type, event_id, dispatched_at, ...about } = sample as Record<string, unknown>;
    assert.deepEqual([event_type, event_id, dispatched_at], [type, id, at.toISOString()]);
    assert.ok(Object.keys(about).length > 0);
  });
}
