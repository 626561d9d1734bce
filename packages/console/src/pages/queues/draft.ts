import type { Operations, Queue } from '@usher/sdk/api-types';
import type { FieldViews } from '../../components/editing/conflict.tsx';
import { basicFields } from './fields-basic.tsx';
import { linkFields, routingFields, serviceFields } from './fields-routing.tsx';
import type { DraftField, DraftOf, Names } from './fields.ts';
import { welcomeFields } from './welcome-editor.tsx';

const fields = { ...basicFields, ...routingFields, ...serviceFields, ...linkFields, ...welcomeFields };

/** The editable fields of a queue, as the form holds them. */
export type QueueDraft = DraftOf<typeof fields>;

export const newDraft = forEachField((field) => field.initial) as QueueDraft;

export function draftOf(queue: Queue): QueueDraft {
  return forEachField((field) => field.read(queue)) as QueueDraft;
}

type QueueBody = Operations['PUT /queues/{queue_id}']['body'];

/** The body of the request that saves the queue. */
export function bodyOf(draft: QueueDraft): QueueBody {
  const values: Readonly<Record<string, unknown>> = draft;
  const bodies = Object.values(forEachField((field, name) => field.write(values[name])));
  const routing_policy = Object.assign({}, ...bodies.map((body) => body.routing_policy));
  return Object.assign({}, ...bodies, { routing_policy });
}

/** How the fields are shown when two versions are compared. */
export function fieldViews(names: Names): FieldViews<QueueDraft> {
  return forEachField((field) => ({
    label: field.label,
    show: (value: unknown) => field.show(value, names),
  })) as FieldViews<QueueDraft>;
}

function forEachField<Made>(make: (field: DraftField<unknown>, name: string) => Made): Record<string, Made> {
  const all: [string, DraftField<unknown>][] = Object.entries(fields);
  return Object.fromEntries(all.map(([name, field]) => [name, make(field, name)]));
}
