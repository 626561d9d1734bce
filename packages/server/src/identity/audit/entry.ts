import Type from 'typebox';
import type { OperatorId, SiteId, VisitorId } from '../../platform/ids.ts';
import { nullable, oneOf, output, timestamp, uuid } from '../../platform/schema.ts';
import type { Change } from './changes.ts';

const value = (meaning: string) => Type.Optional(Type.Unsafe<unknown>({ description: meaning }));

export const auditEntryOutput = output('AuditEntry', {
  id: uuid<'audit_entry'>(),
  at: timestamp,
  site_ids: Type.Unsafe<SiteId[] | null>({
    type: ['array', 'null'],
    items: uuid<'site'>(),
    description: 'The sites it concerns; null: every site of the account; empty: none in particular',
  }),
  actor: Type.Object({
    type: oneOf(['operator', 'visitor'] as const),
    id: uuid<'operator' | 'visitor'>(),
    name: Type.String({ description: 'As it was then; empty: a visitor, whose name is not kept here' }),
  }),
  via: Type.String({
    description:
      'The id of what the token was obtained with, such as an API key; of a long-lived token, its own id; of a visitor, theirs',
  }),
  action: Type.String({ description: 'Such as queue.update' }),
  target: Type.Object({
    type: Type.String({ description: 'Such as queue' }),
    id: Type.String(),
    name: nullable(Type.String({ description: 'As it was then; null: it has none, or it is a person who visits' })),
  }),
  changes: Type.Array(
    Type.Object({
      field: Type.String(),
      before: value('Left out where it was just made'),
      after: value('Left out where it was deleted'),
      hidden: Type.Optional(
        Type.Boolean({ description: 'true: it is secret, or of a visitor, and only that it changed is told' }),
      ),
      shortened: Type.Optional(
        Type.Boolean({ description: 'true: a value that was too long is told as text, the beginning of its JSON' }),
      ),
    }),
  ),
  request_id: Type.String({ description: 'X-Request-Id of the answer' }),
});

/** An entry as it is stored. */
export interface AuditEntryRow {
  readonly id: string;
  readonly seq: number;
  readonly at: Date;
  readonly site_ids: SiteId[] | null;
  readonly actor_type: 'operator' | 'visitor';
  readonly actor_id: OperatorId | VisitorId;
  readonly actor_name: string;
  readonly via: string;
  readonly action: string;
  readonly target_type: string;
  readonly target_id: string;
  readonly target_name: string | null;
  readonly changes: Change[];
  readonly request_id: string;
}

export function showEntry(row: AuditEntryRow): Type.Static<typeof auditEntryOutput> {
  const { id, at, site_ids, via, action, changes, request_id } = row;
  return {
    id: id as Type.Static<typeof auditEntryOutput>['id'],
    at,
    site_ids,
    actor: { type: row.actor_type, id: row.actor_id, name: row.actor_name },
    via,
    action,
    target: { type: row.target_type, id: row.target_id, name: row.target_name },
    changes,
    request_id,
  };
}
