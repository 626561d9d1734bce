import Type from 'typebox';
import { catalogue, eventTypes, type EventType } from '../events/catalogue.ts';
import { sampleEvent, schemaOf } from '../events/make-event.ts';
import type { App } from '../platform/http/http.ts';
import { oneOf, output } from '../platform/schema.ts';

/** Any JSON object. */
const anything = { type: 'object', additionalProperties: true } as const;

const eventTypeOutput = output('EventType', {
  event_type: oneOf(eventTypes),
  description: Type.String({ description: 'When the event happens' }),
  schema: Type.Unsafe<object>({ ...anything, description: 'JSON Schema of the payload' }),
  sample: Type.Unsafe<object>({
    ...anything,
    description: 'The payload that a test of a webhook sends, with another id and time',
  }),
});

const sampled = { id: '5b0c3d1e-7f5a-4a54-9d0e-2f6f6c1b7a00', at: new Date('2027-01-31T09:00:00.000Z') };

/** Lists the event types, for those who write a receiver. */
export function eventTypeRoutes(app: App): void {
  // Described at the first request: the samples are checked, and compiling all checks took a fifth of every start.
  let listed: { event_types: Type.Static<typeof eventTypeOutput>[] } | null = null;
  app.get(
    '/event_types',
    {
      config: { access: { operator: 'operator', site: 'none' } },
      schema: {
        tags: ['Webhooks'],
        summary: 'List all event types, with JSON Schema and a sample',
        description: 'What a webhook can subscribe to, and what it will be sent.',
        response: { 200: Type.Object({ event_types: Type.Array(eventTypeOutput) }) },
      },
    },
    () => (listed ??= { event_types: eventTypes.map(describe) }),
  );
}

function describe(type: EventType): Type.Static<typeof eventTypeOutput> {
  const { trigger } = catalogue[type];
  return { event_type: type, description: trigger, schema: schemaOf(type), sample: sampleEvent(type, sampled) };
}
