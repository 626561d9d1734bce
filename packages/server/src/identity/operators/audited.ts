import Type from 'typebox';
import { uuid } from '../../platform/schema.ts';
import type { Recorded } from '../audit/audit.ts';
import type { OperatorRow } from './operator.ts';

/** What is an operator's and has nothing else to tell, keys and invitations, as the audit log has it. */
export const belongings = { of: Type.Object({ operator_id: uuid<'operator'>() }) };

/** Told to those who are super_manager of any of the operator's sites. */
export function concerning({ assignments }: OperatorRow): Recorded {
  return { concerns: { any: assignments.map(({ site_id }) => site_id) } };
}
