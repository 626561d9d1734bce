import { invalid } from './errors.ts';

const earliest = Date.parse('0001-01-01T00:00:00Z');
/** The end of the year 9999. JavaScript writes later instants in a format that PostgreSQL cannot read. */
export const latest = Date.parse('9999-12-31T23:59:59.999Z');

/**
 * Parses a value that already has the format date-time. It may still be invalid: a leap second, the year 0, or the year 10000 by
 * its offset, which the database cannot read.
 */
export function instantOf(text: string, attribute: string): Date {
  const at = Date.parse(text);
  if (at >= earliest && at <= latest) return new Date(at);
  throw invalid([{ attribute, detail: 'is not an instant in the years 1 to 9999' }]);
}
