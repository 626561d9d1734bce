import Type from 'typebox';
import { invalid } from './errors.ts';
import { instantOf } from './instant.ts';

const instant = (description: string) => Type.Optional(Type.String({ format: 'date-time', description }));

/** The query of a list by time. Every list has `from` and `to`; the first ones were made with other names, which stay valid. */
export const timeQuery = {
  from: instant('At or after this instant'),
  to: instant('Before this instant'),
  since: instant('The former name of `from`'),
  until: instant('The former name of `to`'),
};

interface TimeQuery {
  readonly from?: string;
  readonly to?: string;
  readonly since?: string;
  readonly until?: string;
}

/** `null` where the range has no limit. */
export function timeRange(query: TimeQuery): { readonly since: Date | null; readonly until: Date | null } {
  return { since: oneInstant(query, 'from', 'since'), until: oneInstant(query, 'to', 'until') };
}

function oneInstant(query: TimeQuery, name: 'from' | 'to', former: 'since' | 'until'): Date | null {
  const { [name]: value, [former]: formerValue } = query;
  if (value !== undefined && formerValue !== undefined)
    throw invalid([{ attribute: `/${former}`, detail: `is the former name of ${name}: use ${name} only` }]);
  if (value !== undefined) return instantOf(value, `/${name}`);
  return formerValue === undefined ? null : instantOf(formerValue, `/${former}`);
}
