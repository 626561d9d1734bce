import Type from 'typebox';
import { uuid } from '../../platform/schema.ts';
import type { RecordedChange } from '../audit/audit.ts';
import type { OperatorRow } from './operator.ts';

/** API keys and invitations in the audit log: an entry says only whose they are. */
export const credentialAudit = { of: Type.Object({ operator_id: uuid<'operator'>() }) };

/** The entry is visible to super_managers of any of the operator's sites. */
export function concernsSitesOf({ assignments }: OperatorRow): RecordedChange {
  return { concerns: { any: assignments.map(({ site_id }) => site_id) } };
}
