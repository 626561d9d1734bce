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
import {
  assigned,
  computed,
  defaulted,
  fieldsOf,
  internal,
  optional,
  required,
} from '../../platform/database/fields.ts';
import type { RowOf, SettingsOf } from '../../platform/database/fields.ts';
import type { AccountId } from '../../platform/ids.ts';
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
  description: 'Unique within the account',
});
const engagementCount = Type.Integer({
  minimum: 1,
  maximum: maxEngagementsOfOperator,
  description: 'Maximum number of concurrent text engagements',
});
const teamIds = list(uuid<'team'>(), { uniqueItems: true });

const assignmentInput = body({
  site_id: uuid<'site'>(),
  role: Type.Optional(role),
  team_ids: Type.Optional(teamIds),
});

const assignment = Type.Object({ site_id: uuid<'site'>(), role, team_ids: Type.Array(uuid<'team'>()) });

const displayNameInput = Type.Unsafe<string | null>({
  ...nullable(Type.String({ maxLength: maxNameLength })),
  description:
    'The name that visitors see. null, an empty text or the same text as `name`: visitors see `name`, even after it changes',
});
const displayName = Type.String({
  minLength: 1,
  maxLength: maxNameLength,
  description: 'The name that visitors see. Defaults to `name`',
});

const signIn = Type.Object({
  password: Type.Boolean({ description: 'Whether the operator has a password' }),
  invited_until: Type.Unsafe<string | null>({
    ...nullable(timestamp),
    description: 'When the pending invitation expires; null: no pending invitation',
  }),
});

/** `selectOperator` in `store.ts` computes the computed fields, except `href`. */
const table = {
  id: assigned(uuid<'operator'>()),
  account_id: internal<AccountId>(),
  name: required(name),
  email: required(email),
  role: defaulted(role, 'operator'),
  assignments: computed(Type.Array(assignment), { input: Type.Optional(list(assignmentInput)), audit: 'shown' }),
  max_engagement_count: optional(engagementCount, 1),
  enabled: defaulted(Type.Boolean(), true),
  available: computed(Type.Boolean({ description: 'Whether the operator accepts engagements now' }), {
    input: Type.Optional(Type.Boolean()),
    audit: 'shown',
  }),
  media: assigned(mediumList, 'omitted'),
  presence_reason: assigned(nullable(Type.String()), 'omitted'),
  presence_set_at: assigned(nullable(timestamp), 'omitted'),
  presence_expires_at: assigned(nullable(timestamp), 'omitted'),
  sign_in: computed(signIn, { audit: 'shown' }),
  display_name: computed(displayName, { input: Type.Optional(displayNameInput), audit: 'shown' }),
  picture_url: computed(pictureUrl),
  version: internal<number>(),
  created_at: assigned(timestamp),
  updated_at: assigned(timestamp),
  href: computed(Type.String({ description: 'URL of the operator' })),
};

export const operatorFields = fieldsOf(table);

/** Orders the fields of requests: the display name comes after the e-mail address. */
function requestFields({ name, email, display_name, ...others }: typeof operatorFields.create) {
  return { name, email, display_name, ...others };
}

const passwordFields = {
  password: Type.Optional(newPassword),
  password_confirmation: Type.Optional(
    Type.String({ maxLength: maxPasswordLength, description: 'Must equal password' }),
  ),
};

// A new operator is not available.
const { available: _available, ...creatable } = requestFields(operatorFields.create);
export const operatorInput = checked(body({ ...creatable, ...passwordFields }), passwordViolations);
export const operatorUpdate = update(requestFields(operatorFields.update), ['id', 'href', ...operatorFields.readOnly]);
export const operatorOutput = output('Operator', operatorFields.output);

const leaseSeconds = Type.Integer({ minimum: 1, maximum: maxPresenceLeaseSec });

export const presenceInput = body({
  available: Type.Boolean(),
  media: Type.Optional(mediumList),
  expires_in_sec: Type.Optional(nullable(leaseSeconds)),
  reason: Type.Optional(nullable(Type.String({ maxLength: maxPresenceReasonLength }))),
});

/** The same rules as for a password that is chosen with an invitation. */
function passwordViolations(value: unknown): Violation[] {
  const given = (value ?? {}) as Partial<Record<string, unknown>>;
  const { password, password_confirmation: confirmation } = given;
  if (typeof password !== 'string')
    return confirmation === undefined
      ? []
      : [{ attribute: '/password', detail: 'is required if password_confirmation is given' }];
  const text = (field: unknown): string => (typeof field === 'string' ? field : '');
  const fault = weakness(password, { name: text(given['name']), email: text(given['email']) });
  return [
    ...(fault === null ? [] : [{ attribute: '/password', detail: fault }]),
    ...(confirmation === undefined || confirmation === password
      ? []
      : [{ attribute: '/password_confirmation', detail: 'must be the same as password' }]),
  ];
}

export type OperatorInput = Type.Static<typeof operatorInput>;
export type OperatorUpdate = Type.Static<typeof operatorUpdate>;
export type Assignment = Readonly<Type.Static<typeof assignment>>;
export type OperatorRow = RowOf<typeof table> & Readonly<Omit<Type.Static<typeof operatorOutput>, 'href'>>;

/** The columns that requests can set. */
export interface OperatorSettings extends SettingsOf<typeof table> {
  /** `null`: visitors see the name. */
  readonly display_name: string | null;
}

export function newOperator(given: OperatorInput): OperatorSettings {
  return {
    ...operatorFields.complete(given, null),
    display_name: storedDisplayName(given.display_name, given.name),
  };
}

/** The stored display name: `null` if visitors see `name`. */
export function storedDisplayName(given: string | null | undefined, name: string): string | null {
  return given === undefined || given === null || given.trim() === '' || given === name ? null : given;
}

/** Fills in defaults: an assignment without a role has the operator's own role. */
export function completeAssignments(given: OperatorInput['assignments'], role: Role): Assignment[] {
  return (given ?? []).map(({ site_id, role: own, team_ids }) => ({
    site_id,
    role: own ?? role,
    team_ids: team_ids ?? [],
  }));
}
