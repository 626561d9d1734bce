import type { Operations, SchedulingPolicy } from '@usher/sdk/api-types';
import { weekdays } from '@usher/contract/opening-times';
import type { Exception } from './exceptions.ts';
import { inWeekOrder, type Row } from './week.ts';

/** The editable fields of a scheduling policy. */
export interface HoursDraft {
  readonly name: string;
  readonly description: string;
  readonly timezone: string;
  readonly business_hours: readonly Row[];
  readonly exceptions: readonly Exception[];
}

export function newDraft(timezone: string): HoursDraft {
  return {
    name: '',
    description: '',
    timezone,
    business_hours: [{ opens_at: '09:00', closes_at: '17:00', days_of_week: weekdays.slice(0, 5) }],
    exceptions: [],
  };
}

export function draftOf({ name, description, timezone, business_hours, exceptions }: SchedulingPolicy): HoursDraft {
  return {
    name,
    description: description ?? '',
    timezone,
    business_hours: business_hours.map((row) => ({ ...row, days_of_week: inWeekOrder(row.days_of_week) })),
    exceptions: exceptions.toSorted((a, b) => (a.date < b.date ? -1 : a.date > b.date ? 1 : 0)),
  };
}

type PolicyBody = Operations['PUT /queues/scheduling_policies/{scheduling_policy_id}']['body'];

export function bodyOf(draft: HoursDraft): PolicyBody {
  return { ...draft, description: draft.description === '' ? null : draft.description };
}
