import assert from 'node:assert/strict';
import { eventTypes, type EventType } from '../../../packages/server/src/events/catalogue.ts';
import { schemaOf } from '../../../packages/server/src/events/make-event.ts';
import { feedItems, type FeedItemType } from '../../../packages/server/src/feed/catalogue.ts';
import { validatorCompiler } from '../../../packages/server/src/platform/http/validation.ts';

type Validate = ReturnType<typeof validatorCompiler>;

const validators = new Map<string, Validate>();

function isEvent(type: string): type is EventType {
  return eventTypes.some((each) => each === type);
}

function isFeedItem(type: string): type is FeedItemType {
  return type in feedItems;
}

/** The schema, or each of its alternatives, without additional properties. */
function withoutExtraFields(schema: object): object {
  return 'anyOf' in schema && Array.isArray(schema.anyOf)
    ? { ...schema, anyOf: schema.anyOf.map((each: object) => withoutExtraFields(each)) }
    : { ...schema, additionalProperties: false };
}

function validatorOf(type: string): Validate {
  const cached = validators.get(type);
  if (cached !== undefined) return cached;
  assert.ok(isEvent(type) || isFeedItem(type), `${type} is in neither catalogue`);
  const schema = isEvent(type) ? schemaOf(type) : withoutExtraFields(feedItems[type]);
  const validate = validatorCompiler({ schema, httpPart: 'body', method: '', url: '' });
  validators.set(type, validate);
  return validate;
}

/** Asserts that every item of a feed is declared in a catalogue and fits its schema. */
export function assertDeclared(items: readonly { readonly type: string; readonly data: unknown }[]): void {
  for (const { type, data } of items) {
    const validate = validatorOf(type);
    assert.equal(validate(structuredClone(data)), true, `${type}: ${JSON.stringify(validate.errors)}`);
  }
}
