import type { Request, RequestNotes } from '../structures/state.ts';

interface RequestOrigin extends Pick<Request, 'kind' | 'origin'> {
  readonly notes: Pick<RequestNotes, 'source' | 'platform'>;
}

/** The source of an engagement: the one its request named, otherwise `sms`, `queue`, or the side that made the request. */
export function sourceOf({ kind, origin, notes }: RequestOrigin): string {
  if (notes.source !== null && notes.source !== '') return notes.source;
  if (notes.platform === 'sms') return 'sms';
  return kind === 'ticket' ? 'queue' : origin;
}
