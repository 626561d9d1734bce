import assert from 'node:assert/strict';
import { Ajv2019, type ValidateFunction } from 'ajv/dist/2019.js';
import formats from 'ajv-formats';
import { eventTypes, type EventType } from '../../packages/server/src/events/catalogue.ts';
import { schemaOf } from '../../packages/server/src/events/make-event.ts';
import { feedItems, type FeedItemType } from '../../packages/server/src/feed/catalogue.ts';

const ajv = new Ajv2019({ strict: false });
formats.default(ajv);
const validators = new Map<string, ValidateFunction>();

function isEvent(type: string): type is EventType {
  return eventTypes.some((each) => each === type);
}

function isFeedItem(type: string): type is FeedItemType {
  return type in feedItems;
}

function validatorOf(type: string): ValidateFunction {
  const known = validators.get(type);
  if (known !== undefined) return known;
  assert.ok(isEvent(type) || isFeedItem(type), `${type} is in neither catalogue`);
  const schema = isEvent(type) ? schemaOf(type) : { ...feedItems[type], unevaluatedProperties: false };
  const validator = ajv.compile(JSON.parse(JSON.stringify(schema)));
  validators.set(type, validator);
  return validator;
}

/** Items of a feed are declared in one of the catalogues, and have the form that is declared. */
export function assertDeclared(items: readonly { readonly type: string; readonly data: unknown }[]): void {
  for (const { type, data } of items) {
    const validator = validatorOf(type);
    assert.ok(validator(data), `${type}: ${JSON.stringify(validator.errors)}`);
  }
}
