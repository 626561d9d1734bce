import assert from 'node:assert/strict';
import { eventTypes, type EventType } from '../../packages/server/src/events/catalogue.ts';
import { schemaOf } from '../../packages/server/src/events/make-event.ts';
import { feedItems, type FeedItemType } from '../../packages/server/src/feed/catalogue.ts';
import { validatorCompiler } from '../../packages/server/src/platform/validation.ts';

type Validate = ReturnType<typeof validatorCompiler>;

const validators = new Map<string, Validate>();

function isEvent(type: string): type is EventType {
  return eventTypes.some((each) => each === type);
}

function isFeedItem(type: string): type is FeedItemType {
  return type in feedItems;
}

/** An object of the schema, or of one of its alternatives, and without further fields. */
function closed(schema: object): object {
  return 'anyOf' in schema && Array.isArray(schema.anyOf)
    ? { ...schema, anyOf: schema.anyOf.map((each: object) => closed(each)) }
    : { ...schema, additionalProperties: false };
}

function validatorOf(type: string): Validate {
  const known = validators.get(type);
  if (known !== undefined) return known;
  assert.ok(isEvent(type) || isFeedItem(type), `${type} is in neither catalogue`);
  const schema = isEvent(type) ? schemaOf(type) : closed(feedItems[type]);
  const validate = validatorCompiler({ schema, httpPart: 'body', method: '', url: '' });
  validators.set(type, validate);
  return validate;
}

/** Items of a feed are declared in one of the catalogues, and have the form that is declared. */
export function assertDeclared(items: readonly { readonly type: string; readonly data: unknown }[]): void {
  for (const { type, data } of items) {
    const validate = validatorOf(type);
    assert.equal(validate(structuredClone(data)), true, `${type}: ${JSON.stringify(validate.errors)}`);
  }
}
