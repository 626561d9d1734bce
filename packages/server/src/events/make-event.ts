import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import Type from 'typebox';
import { isUuid } from '../platform/ids.ts';
import type { EventSchemas } from '../platform/reference/openapi/model.ts';
import { catalogue, eventTypes, type EventFields, type EventPayload, type EventType } from './catalogue.ts';
import { fieldOrder, type FieldSchema } from './field-order.ts';
import { instant } from './vocabulary.ts';

/** Makes events from the catalogue, and describes them in openapi.json. */

/** The schema of the payload that is stored and sent. */
export function schemaOf(type: EventType) {
  const { title, trigger, fields } = catalogue[type];
  const properties = {
    event_type: Type.Literal(type),
    event_id: Type.String({ format: 'uuid', description: 'The same in every attempt to deliver the event' }),
    dispatched_at: instant('When the event happened'),
    ...fields,
  };
  return Type.Object(properties, { title, description: trigger, additionalProperties: false });
}

interface CompiledType {
  readonly validate: ValidateFunction;
  readonly arrange: (payload: unknown) => unknown;
}

/**
 * Formats are checked by simple patterns, because our own code writes the values. A check takes about 1 µs, half of what it
 * takes with TypeBox's compiler or with Ajv's exact formats.
 */
const ajv = new Ajv({ strict: false, validateFormats: true });
ajv.addFormat('uuid', isUuid);
ajv.addFormat('date-time', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/);

const compiledTypes = new Map<EventType, CompiledType>();

/** Compiled with the first event of the type: compiling all of them would delay every start. */
function compiledTypeOf(type: EventType): CompiledType {
  const cached = compiledTypes.get(type);
  if (cached !== undefined) return cached;
  if (!eventTypes.includes(type)) throw new Error(`there is no event type ${type}`);
  const schema = schemaOf(type);
  const arrange = fieldOrder(schema as FieldSchema);
  if (arrange === null) throw new Error(`${type} has no fields`);
  const compiled = { validate: ajv.compile(schema), arrange };
  compiledTypes.set(type, compiled);
  return compiled;
}

/** The payload as it is stored and sent, with its fields in the catalogue's order. A payload that breaks its schema is our bug: it throws. */
export function makeEvent<T extends EventType>(
  type: T,
  { id, at }: { readonly id: string; readonly at: Date },
  fields: EventFields<T>,
): EventPayload<T> {
  const compiled = compiledTypeOf(type);
  const payload = { event_type: type, event_id: id, dispatched_at: at.toISOString(), ...fields };
  if (!compiled.validate(payload))
    throw new Error(`${type} does not fit its schema: ${describeErrors(compiled.validate.errors)}`);
  return compiled.arrange(payload) as EventPayload<T>;
}

/** The sample of the type, checked like every event. */
export function sampleEvent<T extends EventType>(type: T, identity: { id: string; at: Date }): EventPayload<T> {
  return makeEvent(type, identity, catalogue[type].sample as EventFields<T>);
}

/** Names fields and rules, never values: a value may be personal or secret. */
function describeErrors(errors: readonly ErrorObject[] | null | undefined): string {
  return (errors ?? [])
    .map(({ instancePath, message, params }) => {
      const field: unknown = params['additionalProperty'];
      return `${instancePath === '' ? '/' : instancePath} ${message}${typeof field === 'string' ? ` (${field})` : ''}`;
    })
    .join('; ');
}

/** The events in openapi.json, each with its schema and a sample. */
export function eventSchemas(): EventSchemas['events'] {
  const identity = { id: '5f0f7a6e-4c58-4f5e-9d0b-6f6f3b1c2d3e', at: new Date('2027-01-31T09:00:00.000Z') };
  return Object.fromEntries(
    eventTypes.map((type) => {
      const { trigger } = catalogue[type];
      return [type, { trigger, schema: schemaOf(type), sample: sampleEvent(type, identity) }];
    }),
  );
}
