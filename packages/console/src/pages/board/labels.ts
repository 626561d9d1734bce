import type { Operator } from '@usher/sdk/api-types';
import type { Medium } from '@usher/contract/media';
import { mediumName } from '../../components/medium.ts';
import { visitorName } from '../../components/visitor-name.ts';
import type { Load } from './store/staffing.ts';
import { texts } from './texts.ts';

/** The activity of a medium: `Chat`, `Phone`. */
export function activityName(medium: Medium): string {
  return medium === 'text' ? texts.chat : mediumName(medium);
}

/** `name` is `null` while it is loading and for visitors without a name. */
export function visitorLabel(name: string | null, id: string): string {
  return name ?? visitorName(null, id);
}

export type OperatorState = 'free' | 'busy' | 'full' | 'away';

export function operatorState({ available, max_engagement_count: max }: Operator, load: Load): OperatorState {
  if (!available) return 'away';
  if (load.engagements === 0) return 'free';
  return load.isInCall || load.engagements >= max ? 'full' : 'busy';
}

/** `Available`, `Busy 2 of 3`, `Away, 1 conversation`. */
export function describeOperator(operator: Operator, load: Load): string {
  const { engagements } = load;
  switch (operatorState(operator, load)) {
    case 'free':
      return texts.available;
    case 'away':
      return engagements === 0 ? texts.away : texts.awayWith(engagements);
    default:
      return load.isInCall ? texts.busyInCall : texts.busy(engagements, operator.max_engagement_count);
  }
}

/**
 * When the current presence of the operator began: when it was set, or when its lease expired. An away reason does not expire.
 */
export function presenceSince({
  available,
  presence_reason,
  presence_set_at,
  presence_expires_at,
}: Operator): string | null {
  if (available || presence_reason !== null) return presence_set_at;
  return leaseExpiry(presence_set_at, presence_expires_at, Date.now()) ?? presence_set_at;
}

/** A lease that expired ended at that time, unless the operator was set away before. */
function leaseExpiry(set: string | null, expires: string | null, now: number): string | null {
  return set !== null && expires !== null && expires > set && Date.parse(expires) <= now ? expires : null;
}
