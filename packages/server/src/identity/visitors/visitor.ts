import {
  maxAttributeNameLength,
  maxAttributeValueLength,
  maxEmailLength,
  maxPresenceLeaseSec,
  maxVisitorAttributes,
  maxVisitorNoteLength,
} from '@usher/contract/limits';
import Type from 'typebox';
import type { AccountId, SiteId, TeamId, VisitorId } from '../../platform/ids.ts';
import { body, list, name, nullable, oneOf, output, timestamp, update, uuid } from '../../platform/schema.ts';

const email = Type.String({ maxLength: maxEmailLength, pattern: String.raw`^[^\s@]+@[^\s@]+$` });
const phone = Type.String({ minLength: 1, maxLength: 64 });
const note = Type.String({ maxLength: maxVisitorNoteLength });
const externalId = Type.String({ minLength: 1, maxLength: 255 });
const teamIds = list(uuid<'team'>(), { uniqueItems: true });
const attributeName = {
  propertyNames: { type: 'string', minLength: 1, maxLength: maxAttributeNameLength },
  maxProperties: maxVisitorAttributes,
} as const;
const attributeValue = Type.String({ maxLength: maxAttributeValueLength });

export const visitorInput = body({
  site_id: Type.Optional(uuid<'site'>()),
  name: Type.Optional(nullable(name)),
  team_ids: Type.Optional(teamIds),
});

/** What visitors may say about themselves, and what only operators may. */
const byVisitor = {
  name: Type.Optional(nullable(name)),
  email: Type.Optional(nullable(email)),
  phone: Type.Optional(nullable(phone)),
  custom_attributes: Type.Optional(
    Type.Unsafe<Record<string, string | null>>({
      type: 'object',
      additionalProperties: nullable(attributeValue),
      ...attributeName,
      description: 'A null value removes the attribute',
    }),
  ),
  custom_attributes_update_method: Type.Optional(oneOf(['replace', 'merge'] as const)),
};
const byOperator = {
  note: Type.Optional(nullable(note)),
  note_update_method: Type.Optional(oneOf(['replace', 'append'] as const)),
  team_ids: Type.Optional(teamIds),
  external_id: Type.Optional(nullable(externalId)),
};
export const operatorOnlyFields = Object.keys(byOperator);

export const visitorUpdate = update({ ...byVisitor, ...byOperator, site_id: uuid<'site'>() }, [
  'id',
  'presence_expires_at',
  'created_at',
  'updated_at',
]);
export const visitorMove = body({ site_id: uuid<'site'>() });
export const visitorPresence = body({ expires_in_sec: Type.Integer({ minimum: 1, maximum: maxPresenceLeaseSec }) });

export const visitorOutput = output('Visitor', {
  id: uuid<'visitor'>(),
  site_id: uuid<'site'>(),
  name: nullable(name),
  email: nullable(email),
  phone: nullable(phone),
  note: nullable(Type.String({ ...note, description: 'For operators; a visitor is shown null' })),
  custom_attributes: Type.Record(Type.String(), attributeValue),
  external_id: nullable(externalId),
  team_ids: Type.Array(uuid<'team'>()),
  presence_expires_at: nullable(timestamp),
  created_at: timestamp,
  updated_at: timestamp,
});

export const visitorToken = output('VisitorToken', {
  id: uuid<'visitor'>(),
  access_token: Type.String(),
  expires_in: Type.Integer({ description: 'Seconds the token is valid for' }),
});

export type VisitorUpdate = Type.Static<typeof visitorUpdate>;

export interface VisitorRow extends Type.Static<typeof visitorOutput> {
  readonly id: VisitorId;
  readonly site_id: SiteId;
  readonly account_id: AccountId;
  readonly version: number;
}

export interface VisitorFields {
  readonly name: string | null;
  readonly email: string | null;
  readonly phone: string | null;
  readonly note: string | null;
  readonly external_id: string | null;
  readonly team_ids: TeamId[];
  readonly custom_attributes: Record<string, string>;
}

export type Merged = { readonly fields: Partial<VisitorFields> } | { readonly tooMany: 'custom_attributes' | 'note' };

/** What a visitor becomes: notes and attributes are replaced, or added to, as the update says. */
export function mergeVisitor(current: VisitorFields, given: VisitorUpdate): Merged {
  const { note: addition, custom_attributes: attributes } = given;
  const noteAfter =
    given.note_update_method === 'append' && addition && current.note !== null
      ? `${current.note}\n${addition}`
      : addition;
  const base = given.custom_attributes_update_method === 'merge' ? current.custom_attributes : {};
  const attributesAfter = attributes && withoutNulls({ ...base, ...attributes });
  if ((noteAfter?.length ?? 0) > maxVisitorNoteLength) return { tooMany: 'note' };
  if (attributesAfter && Object.keys(attributesAfter).length > maxVisitorAttributes)
    return { tooMany: 'custom_attributes' };
  const { name: nameAfter, email: emailAfter, phone: phoneAfter, external_id, team_ids } = given;
  return {
    fields: {
      ...(nameAfter === undefined ? {} : { name: nameAfter }),
      ...(emailAfter === undefined ? {} : { email: emailAfter }),
      ...(phoneAfter === undefined ? {} : { phone: phoneAfter }),
      ...(noteAfter === undefined ? {} : { note: noteAfter }),
      ...(external_id === undefined ? {} : { external_id }),
      ...(team_ids === undefined ? {} : { team_ids }),
      ...(attributesAfter === undefined ? {} : { custom_attributes: attributesAfter }),
    },
  };
}

function withoutNulls(attributes: Record<string, string | null>): Record<string, string> {
  return Object.fromEntries(Object.entries(attributes).filter((entry): entry is [string, string] => entry[1] !== null));
}
