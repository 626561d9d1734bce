import type { Queue } from '@usher/sdk/api-types';

/** When the hours of a queue begin; `null`: never again; `undefined`: the queue is within its hours. */
export type OpensAt = string | null | undefined;

/** Whether a queue accepts visitors now, and if not, why not, in one sentence. */
export function explainQueue(queue: Queue, opensAt: OpensAt): string {
  const overflow =
    queue.self_status !== 'opened' && queue.status === 'opened' ? ' Its fallback queue accepts its visitors.' : '';
  return `${reasonOf(queue, opensAt)}${overflow}`;
}

function reasonOf(queue: Queue, opensAt: OpensAt): string {
  switch (queue.self_status) {
    case 'opened':
      return queue.staffed
        ? 'Open.'
        : 'Open, but no operator who could serve it is available: visitors wait until one is.';
    case 'closed':
      return typeof opensAt === 'string'
        ? `Closed: outside its hours, which begin again at ${opensAt}.`
        : 'Closed: outside its hours, which have no further opening.';
    case 'unstaffed':
      return 'Closed: no operator who could serve it is available, and the queue rejects visitors then (when_unstaffed).';
    case 'full':
      return `Closed: full, with ${queue.visitors_count} visitors and a capacity of ${queue.capacity}.`;
  }
}
