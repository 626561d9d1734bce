import {
  maxEmailLength,
  maxEngagementsOfOperator,
  maxNameLength,
  maxPasswordLength,
  maxPresenceLeaseSec,
  maxPresenceReasonLength,
} from '@usher/contract/limits';
import { roles, type Role } from '@usher/contract/roles';
import Type from 'typebox';
import type { AccountId, OperatorId, SiteId, TeamId } from '../../platform/ids.ts';
import {
  body,
  checked,
  list,
  mediumList,
  name,
  nullable,
  oneOf,
  output,
  timestamp,
  update,
  uuid,
} from '../../platform/schema.ts';
import type { Violation } from '../../platform/errors.ts';
import { newPassword, weakness } from '../sign-in/passwords/password.ts';
import { pictureUrl } from './pictures/picture.ts';

const role = oneOf(roles);
const email = Type.String({
  maxLength: maxEmailLength,
  pattern: String.raw`^[^\s@]+@[^\s@]+$`,
  description: 'Unique in the account',
});
const engagementCount = Type.Integer({
  minimum: 1,
  maximum: maxEngagementsOfOperator,
  description: 'Text engagements at a time',
});
const teamIds = list(uuid<'team'>(), { uniqueItems: true });

const assignmentInput = body({
  site_id: uuid<'site'>(),
  role: Type.Optional(role),
  team_ids: Type.Optional(teamIds),
});

const displayName = Type.String({
  minLength: 1,
  maxLength: maxNameLength,
  description: 'The name that visitors see. Unless it is set, the name of the operator',
});

const settable = {
  display_name: Type.Optional(
    Type.Unsafe<string | null>({
      ...nullable(Type.String({ maxLength: maxNameLength })),
      description:
        'The name that visitors see. null, an empty text or the same text as `name`: the name, also once it changes',
    }),
  ),
  role: Type.Optional(role),
  assignments: Type.Optional(list(assignmentInput)),
  max_engagement_count: Type.Optional(nullable(engagementCount)),
  enabled: Type.Optional(Type.Boolean()),
};

const passwordFields = {
  password: Type.Optional(newPassword),
  password_confirmation: Type.Optional(Type.String({ maxLength: maxPasswordLength, description: 'The same again' })),
};

export const operatorInput = checked(body({ name, email, ...settable, ...passwordFields }), passwordFaults);
export const operatorUpdate = update({ name, email, ...settable, available: Type.Optional(Type.Boolean()) }, [
  'id',
  'href',
  'media',
  'presence_reason',
  'presence_set_at',
  'presence_expires_at',
  'sign_in',
  'picture_url',
  'created_at',
  'updated_at',
]);

const leaseSeconds = Type.Integer({ minimum: 1, maximum: maxPresenceLeaseSec });

export const presenceInput = body({
  available: Type.Boolean(),
  media: Type.Optional(mediumList),
  expires_in_sec: Type.Optional(nullable(leaseSeconds)),
  reason: Type.Optional(nullable(Type.String({ maxLength: maxPresenceReasonLength }))),
});

export const operatorOutput = output('Operator', {
  id: uuid<'operator'>(),
  name,
  email,
  role,
  assignments: Type.Array(Type.Object({ site_id: uuid<'site'>(), role, team_ids: Type.Array(uuid<'team'>()) })),
  max_engagement_count: engagementCount,
  enabled: Type.Boolean(),
  available: Type.Boolean({ description: 'Whether the operator takes engagements now' }),
  media: mediumList,
  presence_reason: nullable(Type.String()),
  presence_set_at: nullable(timestamp),
  presence_expires_at: nullable(timestamp),
  sign_in: Type.Object({
    password: Type.Boolean({ description: 'Whether the operator has chosen one' }),
    invited_until: Type.Unsafe<string | null>({
      ...nullable(timestamp),
      description: 'How long an invitation waits to be accepted; null: none does',
    }),
  }),
  display_name: displayName,
  picture_url: pictureUrl,
  created_at: timestamp,
  updated_at: timestamp,
  href: Type.String({ description: 'Address of the operator' }),
});

/** The same rules as for a password that is chosen by an invitation. */
function passwordFaults(value: unknown): Violation[] {
  const given = (value ?? {}) as Partial<Record<string, unknown>>;
  const { password, password_confirmation: confirmation } = given;
  if (typeof password !== 'string')
    return confirmation === undefined
      ? []
      : [{ attribute: '/password', detail: 'is required beside password_confirmation' }];
  const text = (field: unknown): string => (typeof field === 'string' ? field : '');
  const fault = weakness(password, { name: text(given['name']), email: text(given['email']) });
  return [
    ...(fault === null ? [] : [{ attribute: '/password', detail: fault }]),
    ...(confirmation === undefined || confirmation === password
      ? []
      : [{ attribute: '/password_confirmation', detail: 'must be the same as password' }]),
  ];
}

export const defaultEngagementCount = 1;
const defaultRole: Role = 'operator';

export type OperatorInput = Type.Static<typeof operatorInput>;
export type OperatorUpdate = Type.Static<typeof operatorUpdate>;

export interface Assignment {
  readonly site_id: SiteId;
  readonly role: Role;
  readonly team_ids: TeamId[];
}

export interface OperatorRow extends Omit<Type.Static<typeof operatorOutput>, 'assignments' | 'href'> {
  readonly id: OperatorId;
  readonly account_id: AccountId;
  readonly assignments: Assignment[];
  readonly version: number;
}

/** The display name as it is stored: `null` where visitors see the operator's own name. */
export function storedDisplayName(given: string | null | undefined, name: string): string | null {
  return given === undefined || given === null || given.trim() === '' || given === name ? null : given;
}

/** Assignments as they are stored: an assignment without a role has the operator's own. */
export function completeAssignments(given: OperatorInput['assignments'], role: Role = defaultRole): Assignment[] {
  return (given ?? []).map(({ site_id, role: own, team_ids }) => ({
    site_id,
    role: own ?? role,
    team_ids: team_ids ?? [],
  }));
}
