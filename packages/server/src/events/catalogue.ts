import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import type Type from 'typebox';
import { isUuid } from '../platform/ids.ts';
import type { ApiDocument } from '../platform/openapi.ts';
import { fieldOrder, type FieldSchema } from './field-order.ts';
import { payloads } from './payloads.ts';

/** Every event there is, how one is made, and how the API document tells of them. */

export type EventType = keyof typeof payloads;
export const eventTypes = Object.keys(payloads) as readonly EventType[];

export type EventPayload<T extends EventType> = T extends EventType ? Type.Static<(typeof payloads)[T]> : never;

/** What an event tells beside the fields that every event has. */
export type EventFields<T extends EventType> = T extends EventType
  ? Omit<EventPayload<T>, 'event_type' | 'event_id' | 'dispatched_at'>
  : never;

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
  const schema = payloads[type] as (typeof payloads)[EventType] | undefined;
  if (schema === undefined) throw new Error(`there is no event type ${type}`);
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
  if (!form.fits(payload)) throw new Error(`${type} does not fit its schema: ${inWords(form.fits.errors)}`);
  return form.arrange(payload) as EventPayload<T>;
}

/** Names fields and rules, never values: what a field holds may be personal or secret. */
function inWords(errors: readonly ErrorObject[] | null | undefined): string {
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
      const schema: Type.TSchema & { readonly description?: string } = payloads[type];
      const post = {
        summary: schema.description ?? '',
        requestBody: { required: true, content: { 'application/json': { schema } } },
        responses: { '2XX': { description: 'Received. Any 2xx will do.' } },
      };
      return [type, { post }];
    }),
  );
}
