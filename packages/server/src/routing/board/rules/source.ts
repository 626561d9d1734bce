import type { Request, RequestNotes } from '../structures/state.ts';

interface RequestOrigin extends Pick<Request, 'kind' | 'origin'> {
  readonly notes: Pick<RequestNotes, 'source' | 'platform'>;
}

/** Where an engagement came from: what its request said; else whether a queue, a phone, the visitor or the operator asked. */
export function sourceOf({ kind, origin, notes }: RequestOrigin): string {
  if (notes.source !== null && notes.source !== '') return notes.source;
  if (notes.platform === 'sms') return 'sms';
  return kind === 'ticket' ? 'queue' : origin;
}
