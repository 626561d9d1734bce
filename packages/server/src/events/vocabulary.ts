import Type from 'typebox';
import { body } from '../platform/schema.ts';

/** Schemas that the payloads share. Receivers treat every id as an opaque string. */
export const id = Type.String();

/** An instant in ISO 8601, as `Date.toISOString` writes it. */
export function instant(description: string) {
  return Type.Unsafe<string>({ type: 'string', format: 'date-time', description });
}

export const subEngagement = body({ id, operator_id: id, site_id: id });
