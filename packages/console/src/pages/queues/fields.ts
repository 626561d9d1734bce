import type { Faults } from '../../components/faults.ts';
import type { QueueDraft, Typed } from './draft.ts';

/** What every part of the form is given. */
export interface FieldsProps {
  readonly draft: QueueDraft;
  readonly set: (part: Partial<QueueDraft>) => void;
  readonly fault: Faults;
  readonly siteId: string;
  /** `null` while the queue is new. */
  readonly queueId: string | null;
}

/** What a number input gives: text while it is no number yet. */
export function typedNumber(value: number | string): Typed {
  if (typeof value === 'number') return value;
  return value === '' || Number.isNaN(Number(value)) ? '' : Number(value);
}
