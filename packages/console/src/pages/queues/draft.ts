import type { Operations, Queue } from '@usher/client/api-types';
import { media, type Medium } from '@usher/contract/media';
import type { UnstaffedRule } from '@usher/contract/states';

/** A number as it is typed: nothing yet, or one. */
export type Typed = number | '';

/** Everything of a queue that can be edited, as the form holds it. */
export interface QueueDraft {
  readonly name: string;
  readonly description: string;
  readonly capacity_policy: {
    readonly type: 'fixed' | 'variable';
    readonly capacity: Typed;
    readonly multiplier: Typed;
  };
  readonly media: readonly Medium[];
  readonly team_ids: readonly string[];
  readonly when_unstaffed: UnstaffedRule;
  readonly operator_ranking_enabled: boolean;
  readonly welcome_message: string;
  readonly scheduling_policy_id: string | null;
  readonly fallback_queue_id: string | null;
  /** Seconds; `null`: not wanted. */
  readonly operator_affinity: Typed | null;
}

export const newDraft: QueueDraft = {
  name: '',
  description: '',
  capacity_policy: { type: 'fixed', capacity: 10, multiplier: '' },
  media: [],
  team_ids: [],
  when_unstaffed: 'reject',
  operator_ranking_enabled: false,
  welcome_message: '',
  scheduling_policy_id: null,
  fallback_queue_id: null,
  operator_affinity: null,
};

export function draftOf(queue: Queue): QueueDraft {
  const { type, capacity = '', multiplier = '' } = queue.capacity_policy;
  return {
    name: queue.name,
    description: queue.description ?? '',
    capacity_policy: { type, capacity, multiplier },
    media: media.filter((medium) => queue.routing_policy.media?.includes(medium) === true),
    team_ids: (queue.routing_policy.team_ids ?? []).toSorted(),
    when_unstaffed: queue.when_unstaffed,
    operator_ranking_enabled: queue.operator_ranking_enabled,
    welcome_message: queue.welcome_message ?? '',
    scheduling_policy_id: queue.scheduling_policy_id,
    fallback_queue_id: queue.fallback_queue_id,
    operator_affinity: queue.operator_affinity?.time_window_sec ?? null,
  };
}

type QueueBody = Operations['PUT /queues/{queue_id}']['body'];

/** What is sent. A number that was not typed is left out: the server says that it is missing. */
export function bodyOf(draft: QueueDraft): QueueBody {
  const { type, capacity, multiplier } = draft.capacity_policy;
  const own = type === 'fixed' ? { capacity } : { multiplier };
  return {
    name: draft.name,
    description: draft.description === '' ? null : draft.description,
    capacity_policy: { type, ...typed(own) },
    routing_policy: {
      ...(draft.media.length === 0 ? {} : { media: draft.media }),
      ...(draft.team_ids.length === 0 ? {} : { team_ids: draft.team_ids }),
    },
    when_unstaffed: draft.when_unstaffed,
    operator_ranking_enabled: draft.operator_ranking_enabled,
    welcome_message: draft.welcome_message === '' ? null : draft.welcome_message,
    scheduling_policy_id: draft.scheduling_policy_id,
    fallback_queue_id: draft.fallback_queue_id,
    operator_affinity:
      draft.operator_affinity === null
        ? null
        : (typed({ time_window_sec: draft.operator_affinity }) as { time_window_sec: number }),
  };
}

function typed(numbers: Readonly<Record<string, Typed>>): Record<string, number> {
  return Object.fromEntries(Object.entries(numbers).flatMap(([key, value]) => (value === '' ? [] : [[key, value]])));
}
