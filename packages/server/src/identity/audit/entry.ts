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
    description: 'The sites that the change concerns. null: all sites of the account; empty: no site in particular',
  }),
  actor: Type.Object({
    type: oneOf(['operator', 'visitor'] as const),
    id: uuid<'operator' | 'visitor'>(),
    name: Type.String({ description: 'At the time of the change; empty for a visitor, whose name is not stored here' }),
  }),
  via: Type.String({
    description:
      'The id of the API key or session that the token was obtained with, of the access token itself, or of the visitor',
  }),
  action: Type.String({ description: 'For example queue.update' }),
  target: Type.Object({
    type: Type.String({ description: 'For example queue' }),
    id: Type.String(),
    name: nullable(
      Type.String({ description: 'At the time of the change; null for a visitor or a resource without a name' }),
    ),
  }),
  changes: Type.Array(
    Type.Object({
      field: Type.String(),
      before: value('Absent if the resource was created'),
      after: value('Absent if the resource was deleted'),
      hidden: Type.Optional(
        Type.Boolean({
          description: 'true: the values are hidden, because they are secret or personal data of a visitor',
        }),
      ),
      shortened: Type.Optional(
        Type.Boolean({ description: 'true: a value was too long and is replaced by the beginning of its JSON text' }),
      ),
    }),
  ),
  request_id: Type.String({ description: 'X-Request-Id of the response' }),
});

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
