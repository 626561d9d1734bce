import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import Type from 'typebox';
import { isUuid } from '../platform/ids.ts';
import type { ApiDocument } from '../platform/openapi.ts';
import { catalogue, eventTypes, type EventFields, type EventPayload, type EventType } from './catalogue.ts';
import { fieldOrder, type FieldSchema } from './field-order.ts';
import { instant } from './vocabulary.ts';

/** How events are made from the catalogue, and how the API document shows them. */

/** The schema of what is stored and sent. */
export function schemaOf(type: EventType) {
  const { title, trigger, fields } = catalogue[type];
  const properties = {
    event_type: Type.Literal(type),
    event_id: Type.String({ format: 'uuid', description: 'The same in every repetition of the event' }),
    dispatched_at: instant('When it happened'),
    ...fields,
  };
  return Type.Object(properties, { title, description: trigger, additionalProperties: false });
}

interface Form {
  readonly fits: ValidateFunction;
  readonly arrange: (payload: unknown) => unknown;
}

/**
 * Patterns suffice for formats, as what they check we have written ourselves. So a check takes about 1 µs, half of
 * what TypeBox's own compiler or Ajv with exact formats would.
 */
const ajv = new Ajv({ strict: false, validateFormats: true });
ajv.addFormat('uuid', isUuid);
ajv.addFormat('date-time', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/);

const forms = new Map<EventType, Form>();

/** Made when the first event of its type is: all at once they would hold up every start. */
function formOf(type: EventType): Form {
  const known = forms.get(type);
  if (known !== undefined) return known;
  if (!eventTypes.includes(type)) throw new Error(`there is no event type ${type}`);
  const schema = schemaOf(type);
  const arrange = fieldOrder(schema as FieldSchema);
  if (arrange === null) throw new Error(`${type} has no fields`);
  const form = { fits: ajv.compile(schema), arrange };
  forms.set(type, form);
  return form;
}

/** The payload as it is stored and sent, its fields in the document's order. One that breaks its schema is a bug of ours. */
export function makeEvent<T extends EventType>(
  type: T,
  { id, at }: { readonly id: string; readonly at: Date },
  fields: EventFields<T>,
): EventPayload<T> {
  const form = formOf(type);
  const payload = { event_type: type, event_id: id, dispatched_at: at.toISOString(), ...fields };
  if (!form.fits(payload)) throw new Error(`${type} does not fit its schema: ${describeErrors(form.fits.errors)}`);
  return form.arrange(payload) as EventPayload<T>;
}

/** Made as every event is, so that a sample that broke its schema would never be sent. */
export function sampleEvent<T extends EventType>(type: T, named: { id: string; at: Date }): EventPayload<T> {
  return makeEvent(type, named, catalogue[type].sample as EventFields<T>);
}

/** Names fields and rules, never values: what a field holds may be personal or secret. */
function describeErrors(errors: readonly ErrorObject[] | null | undefined): string {
  return (errors ?? [])
    .map(({ instancePath, message, params }) => {
      const field: unknown = params['additionalProperty'];
      return `${instancePath === '' ? '/' : instancePath} ${message}${typeof field === 'string' ? ` (${field})` : ''}`;
    })
    .join('; ');
}

/** The `webhooks` of the OpenAPI document: what a receiver is sent, by event type. */
export function eventWebhooks(): ApiDocument['webhooks'] {
  return Object.fromEntries(
    eventTypes.map((type) => {
      const post = {
        summary: catalogue[type].trigger,
        requestBody: { required: true, content: { 'application/json': { schema: schemaOf(type) } } },
        responses: { '2XX': { description: 'Received. Any 2xx will do.' } },
      };
      return [type, { post }];
    }),
  );
}
