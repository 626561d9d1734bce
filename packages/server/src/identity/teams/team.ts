import Type from 'typebox';
import type { AccountId, SiteId, TeamId } from '../../platform/ids.ts';
import { body, description, name, nullable, output, timestamp, update, uuid } from '../../platform/schema.ts';

export const teamInput = body({
  site_id: uuid<'site'>(),
  name,
  description: Type.Optional(nullable(description)),
});

export const teamUpdate = update({ name, description: Type.Optional(nullable(description)), site_id: uuid<'site'>() }, [
  'id',
  'created_at',
  'updated_at',
]);

export const teamOutput = output('Team', {
  id: uuid<'team'>(),
  site_id: uuid<'site'>(),
  name,
  description: nullable(description),
  created_at: timestamp,
  updated_at: timestamp,
});

export interface TeamRow extends Type.Static<typeof teamOutput> {
  readonly id: TeamId;
  readonly site_id: SiteId;
  readonly account_id: AccountId;
  readonly version: number;
}
