import type { FieldViews } from '../../components/editing/conflict.tsx';
import type { HoursDraft } from './draft.ts';
import { datesOf, describePlan, planOf } from './exceptions.ts';
import { texts } from './texts.ts';
import { describeWeek } from './week.ts';

const text = (value: string): string => (value === '' ? texts.noValue : value);

/** How the fields are shown when two versions are compared. */
export const fieldViews: FieldViews<HoursDraft> = {
  name: { label: texts.name, show: text },
  description: { label: texts.description, show: text },
  timezone: { label: texts.timeZone, show: text },
  business_hours: { label: texts.week, show: (rows) => text(describeWeek(rows)) },
  exceptions: {
    label: texts.exceptions,
    show: (exceptions) =>
      text(
        datesOf(exceptions)
          .map((date) => `${date} ${describePlan(planOf(exceptions, date))}`)
          .join('; '),
      ),
  },
};
