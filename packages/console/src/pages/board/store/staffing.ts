import type { Operator, Queue } from '@usher/sdk/api-types';

export interface Staff {
  /** Operators who staff the queue. */
  readonly present: number;
  /** Those of them who are at capacity. */
  readonly busy: number;
}

/** The current work of an operator. */
export interface Load {
  readonly engagements: number;
  /** Whether one of the engagements is a call: an operator in a call takes no other visitor. */
  readonly isInCall: boolean;
}

export const idle: Load = { engagements: 0, isInCall: false };
const noStaff: Staff = { present: 0, busy: 0 };

export function isFull({ max_engagement_count }: Operator, { engagements, isInCall }: Load): boolean {
  return isInCall || engagements >= max_engagement_count;
}

/** The server's rule (D2.1): on the queue's site, in one of its teams if it has any, and with one of its media. */
export function staffs(operator: Operator, { site_id, routing_policy: { team_ids, media } }: Queue): boolean {
  if (!operator.available) return false;
  const assignment = operator.assignments.find((each) => each.site_id === site_id);
  if (assignment === undefined) return false;
  const inTeam =
    team_ids === undefined || team_ids.length === 0 || team_ids.some((id) => assignment.team_ids.includes(id));
  const ofMedia = media === undefined || media.length === 0 || media.some((medium) => operator.media.includes(medium));
  return inTeam && ofMedia && operator.media.length > 0;
}

/**
 * Counts the staff of each queue and how many of them are busy. It remembers where each operator was counted, so a change of one
 * operator costs as much as they have queues, not as there are operators.
 */
export class Staffing {
  readonly #counts = new Map<string, Staff>();
  readonly #counted = new Map<string, { readonly queues: readonly string[]; readonly busy: number }>();

  count(operator: Operator, load: Load, queues: Iterable<Queue>): void {
    this.forget(operator.id);
    if (!operator.available) return;
    const served = [...queues].filter((queue) => staffs(operator, queue)).map(({ id }) => id);
    const busy = isFull(operator, load) ? 1 : 0;
    this.#counted.set(operator.id, { queues: served, busy });
    for (const id of served) this.#add(id, 1, busy);
  }

  forget(operatorId: string): void {
    const counted = this.#counted.get(operatorId);
    if (counted === undefined) return;
    this.#counted.delete(operatorId);
    for (const id of counted.queues) this.#add(id, -1, -counted.busy);
  }

  of(queueId: string): Staff {
    return this.#counts.get(queueId) ?? noStaff;
  }

  #add(queueId: string, present: number, busy: number): void {
    const before = this.of(queueId);
    this.#counts.set(queueId, { present: before.present + present, busy: before.busy + busy });
  }
}
