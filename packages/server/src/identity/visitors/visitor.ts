import {
  maxAttributeNameLength,
  maxAttributeValueLength,
  maxEmailLength,
  maxPresenceLeaseSec,
  maxVisitorAttributes,
  maxVisitorNoteLength,
} from '@usher/contract/limits';
import Type from 'typebox';
import { assigned, defaulted, fieldsOf, fixed, internal, optional } from '../../platform/fields.ts';
import type { RowOf, SettingsOf } from '../../platform/fields.ts';
import type { AccountId } from '../../platform/ids.ts';
import { body, list, name, nullable, oneOf, output, timestamp, update, uuid } from '../../platform/schema.ts';

const email = Type.String({ maxLength: maxEmailLength, pattern: String.raw`^[^\s@]+@[^\s@]+$` });
const phone = Type.String({ minLength: 1, maxLength: 64 });
const note = Type.String({ maxLength: maxVisitorNoteLength });
const externalId = Type.String({ minLength: 1, maxLength: 255 });
const attributeValue = Type.String({ maxLength: maxAttributeValueLength });
const attributesInput = Type.Unsafe<Record<string, string | null>>({
  type: 'object',
  additionalProperties: nullable(attributeValue),
  propertyNames: { type: 'string', minLength: 1, maxLength: maxAttributeNameLength },
  maxProperties: maxVisitorAttributes,
  description: 'A null value removes the attribute',
});

/** The audit log says which of a visitor's personal data changed, and not what they were. */
const table = {
  id: assigned(uuid<'visitor'>()),
  account_id: internal<AccountId>(),
  site_id: fixed(uuid<'site'>()),
  name: optional(name, null, { audit: 'hidden' }),
  email: optional(email, null, { audit: 'hidden' }),
  phone: optional(phone, null, { audit: 'hidden' }),
  note: optional(note, null, {
    output: nullable(Type.String({ ...note, description: 'For operators; a visitor is shown null' })),
    audit: 'hidden',
  }),
  custom_attributes: defaulted(
    attributesInput,
    {},
    { output: Type.Record(Type.String(), attributeValue), stored: 'json', audit: 'hidden' },
  ),
  external_id: optional(externalId, null, { audit: 'hidden' }),
  team_ids: defaulted(list(uuid<'team'>(), { uniqueItems: true }), [], { output: Type.Array(uuid<'team'>()) }),
  presence_expires_at: assigned(nullable(timestamp), 'omitted'),
  version: internal<number>(),
  created_at: assigned(timestamp),
  updated_at: assigned(timestamp),
};

export const visitorFields = fieldsOf(table);
const given = visitorFields.create;

export const visitorInput = body({
  site_id: Type.Optional(given.site_id),
  name: given.name,
  team_ids: given.team_ids,
});

/** What visitors may say about themselves, and what only operators may. */
const byVisitor = {
  name: given.name,
  email: given.email,
  phone: given.phone,
  custom_attributes: given.custom_attributes,
  custom_attributes_update_method: Type.Optional(oneOf(['replace', 'merge'] as const)),
};
const byOperator = {
  note: given.note,
  note_update_method: Type.Optional(oneOf(['replace', 'append'] as const)),
  team_ids: given.team_ids,
  external_id: given.external_id,
};
export const operatorOnlyFields = Object.keys(byOperator);

export const visitorUpdate = update({ ...byVisitor, ...byOperator, site_id: given.site_id }, visitorFields.readOnly);
export const visitorOutput = output('Visitor', visitorFields.output);
export const visitorMove = body({ site_id: uuid<'site'>() });
export const visitorPresence = body({ expires_in_sec: Type.Integer({ minimum: 1, maximum: maxPresenceLeaseSec }) });

export const visitorToken = output('VisitorToken', {
  id: uuid<'visitor'>(),
  access_token: Type.String(),
  expires_in: Type.Integer({ description: 'Seconds the token is valid for' }),
});

export type VisitorUpdate = Type.Static<typeof visitorUpdate>;

export type VisitorRow = RowOf<typeof table>;
export type VisitorSettings = SettingsOf<typeof table>;

export type Merged =
  { readonly changes: Partial<VisitorSettings> } | { readonly tooMany: 'custom_attributes' | 'note' };

/** What a visitor becomes: notes and attributes are replaced, or added to, as the update says. */
export function mergeVisitor(current: VisitorSettings, given: VisitorUpdate): Merged {
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
  return { changes: visitorFields.changes({ ...given, note: noteAfter, custom_attributes: attributesAfter }) };
}

function withoutNulls(attributes: Record<string, string | null>): Record<string, string> {
  return Object.fromEntries(Object.entries(attributes).filter((entry): entry is [string, string] => entry[1] !== null));
}
