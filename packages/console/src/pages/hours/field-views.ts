import type { FieldViews } from '../../components/conflict.tsx';
import type { HoursDraft } from './draft.ts';
import { datesOf, planInWords, planOf } from './exceptions.ts';
import { weekInWords } from './week.ts';

const text = (value: string): string => (value === '' ? 'nothing' : value);

/** How the fields of a policy are shown where two versions of them stand side by side. */
export const fieldViews: FieldViews<HoursDraft> = {
  name: { label: 'Name', show: text },
  description: { label: 'Description', show: text },
  timezone: { label: 'Time zone', show: text },
  business_hours: { label: 'Week', show: (rows) => text(weekInWords(rows)) },
  exceptions: {
    label: 'Exceptions',
    show: (exceptions) =>
      text(
        datesOf(exceptions)
          .map((date) => `${date} ${planInWords(planOf(exceptions, date))}`)
          .join('; '),
      ),
  },
};
