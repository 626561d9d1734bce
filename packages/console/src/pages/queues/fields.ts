import type { Operations, Queue } from '@usher/client/api-types';
import type { Faults } from '../../components/faults.ts';

type QueueBody = Operations['PUT /queues/{queue_id}']['body'];

/** A field of the form: its value in a new queue, and how it is read, written and shown. */
export interface DraftField<T> {
  readonly label: string;
  readonly initial: T;
  read(queue: Queue): T;
  /** Its part of the request. */
  write(value: T): { readonly [Key in keyof QueueBody]?: Partial<QueueBody[Key]> };
  /** In words, where two versions stand side by side. */
  show(value: T, names: Names): string;
}

/** Names of queues, teams and hours by their ids. */
export type Names = ReadonlyMap<string, string>;

export function field<T>(described: DraftField<T>): DraftField<T> {
  return described;
}

/** The form holds the value that the API has. */
export function plainField<Name extends keyof Queue & keyof QueueBody>(
  name: Name,
  described: Pick<DraftField<Queue[Name]>, 'label' | 'initial' | 'show'>,
): DraftField<Queue[Name]> {
  return { ...described, read: (queue) => queue[name], write: (value) => ({ [name]: value }) };
}

type NullableText<Name extends keyof Queue> = { [Key in Name]: string | null extends Queue[Key] ? Key : never }[Name];

/** Text that may be left empty, which is null in the API. */
export function textField(name: NullableText<keyof Queue & keyof QueueBody>, label: string): DraftField<string> {
  return {
    label,
    initial: '',
    read: (queue) => queue[name] ?? '',
    write: (text) => ({ [name]: text === '' ? null : text }),
    show: textOrNothing,
  };
}

export function textOrNothing(text: string): string {
  return text === '' ? 'nothing' : text;
}

export type DraftOf<Fields> = {
  readonly [Key in keyof Fields]: Fields[Key] extends DraftField<infer T> ? T : never;
};

/** What every part of the form is given. */
export interface FieldsProps<Fields> {
  readonly draft: DraftOf<Fields>;
  readonly set: (part: Partial<DraftOf<Fields>>) => void;
  readonly fault: Faults;
  readonly siteId: string;
  /** `null` while the queue is new. */
  readonly queueId: string | null;
}

/** A number as it is typed: nothing yet, or one. */
export type Typed = number | '';

/** What a number input gives: text while it is no number yet. */
export function typedNumber(value: number | string): Typed {
  if (typeof value === 'number') return value;
  return value === '' || Number.isNaN(Number(value)) ? '' : Number(value);
}

/** What was not typed is left out of the request: the server says that it is missing. */
export function ifTyped<Name extends string>(name: Name, value: Typed): { [Key in Name]?: number } {
  return (value === '' ? {} : { [name]: value }) as { [Key in Name]?: number };
}
