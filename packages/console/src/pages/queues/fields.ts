import type { Operations, Queue } from '@usher/sdk/api-types';
import type { Faults } from '../../components/faults.ts';
import { texts } from './texts.ts';

type QueueBody = Operations['PUT /queues/{queue_id}']['body'];

/** A field of the form: its initial value, and how it is read, written and shown. */
export interface DraftField<T> {
  readonly label: string;
  readonly initial: T;
  read(queue: Queue): T;
  /** The part of the request that the field writes. */
  write(value: T): { readonly [Key in keyof QueueBody]?: Partial<QueueBody[Key]> };
  /** The value as text, for comparing two versions. */
  show(value: T, names: Names): string;
}

/** Names of queues, teams and hours by their ids. */
export type Names = ReadonlyMap<string, string>;

export function field<T>(described: DraftField<T>): DraftField<T> {
  return described;
}

/** A field whose draft is the value of the API. */
export function plainField<Name extends keyof Queue & keyof QueueBody>(
  name: Name,
  described: Pick<DraftField<Queue[Name]>, 'label' | 'initial' | 'show'>,
): DraftField<Queue[Name]> {
  return { ...described, read: (queue) => queue[name], write: (value) => ({ [name]: value }) };
}

type NullableText<Name extends keyof Queue> = { [Key in Name]: string | null extends Queue[Key] ? Key : never }[Name];

/** Optional text: empty in the form, `null` in the API. */
export function textField(name: NullableText<keyof Queue & keyof QueueBody>, label: string): DraftField<string> {
  return {
    label,
    initial: '',
    read: (queue) => queue[name] ?? '',
    write: (text) => ({ [name]: text === '' ? null : text }),
    show: textOrNone,
  };
}

export function textOrNone(text: string): string {
  return text === '' ? texts.noValue : text;
}

export type DraftOf<Fields> = {
  readonly [Key in keyof Fields]: Fields[Key] extends DraftField<infer T> ? T : never;
};

/** The props of every part of the form. */
export interface FieldsProps<Fields> {
  readonly draft: DraftOf<Fields>;
  readonly set: (part: Partial<DraftOf<Fields>>) => void;
  readonly fault: Faults;
  readonly siteId: string;
  /** `null` while the queue is new. */
  readonly queueId: string | null;
}

/** A number input: empty or a number. */
export type NumberDraft = number | '';

/** The value of a number input: text while it is not a number. */
export function parseNumber(value: number | string): NumberDraft {
  if (typeof value === 'number') return value;
  return value === '' || Number.isNaN(Number(value)) ? '' : Number(value);
}

/** Omits an empty number from the request, so that the server reports it as missing. */
export function omitEmpty<Name extends string>(name: Name, value: NumberDraft): { [Key in Name]?: number } {
  return (value === '' ? {} : { [name]: value }) as { [Key in Name]?: number };
}
