import Type from 'typebox';
import { body } from '../platform/schema.ts';

/** The words that the payloads share. All ids are strings to a receiver, whatever they are to us. */
export const id = Type.String();

/** An instant as it is sent: ISO 8601, as `Date.toISOString` writes it. */
export function instant(description: string) {
  return Type.Unsafe<string>({ type: 'string', format: 'date-time', description });
}

export const subEngagement = body({ id, operator_id: id, site_id: id });
