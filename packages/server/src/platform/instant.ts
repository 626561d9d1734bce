import { invalid } from './errors.ts';

const earliest = Date.parse('0001-01-01T00:00:00Z');
/** The end of the year 9999: what is later is written in a way that PostgreSQL does not read. */
export const latest = Date.parse('9999-12-31T23:59:59.999Z');

/**
 * A date-time by its format may be none by its value: a leap second; or, the year 0 and, by its offset, the year 10000, one
 * that the database does not read.
 */
export function instantOf(text: string, attribute: string): Date {
  const at = Date.parse(text);
  if (at >= earliest && at <= latest) return new Date(at);
  throw invalid([{ attribute, detail: 'is not an instant in the years 1 to 9999' }]);
}
