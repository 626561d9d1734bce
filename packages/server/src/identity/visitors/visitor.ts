import {
  maxAttributeNameLength,
  maxAttributeValueLength,
  maxEmailLength,
  maxPresenceLeaseSec,
  maxVisitorAttributes,
  maxVisitorNoteLength,
} from '@usher/contract/limits';
import Type from 'typebox';
import { assigned, defaulted, fieldsOf, fixed, internal, optional } from '../../platform/database/fields.ts';
import type { RowOf, SettingsOf } from '../../platform/database/fields.ts';
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

/** The audit log says which personal data of a visitor changed, but hides the values. */
const table = {
  id: assigned(uuid<'visitor'>()),
  account_id: internal<AccountId>(),
  site_id: fixed(uuid<'site'>()),
  name: optional(name, null, { audit: 'hidden' }),
  email: optional(email, null, { audit: 'hidden' }),
  phone: optional(phone, null, { audit: 'hidden' }),
  note: optional(note, null, {
    output: nullable(Type.String({ ...note, description: 'For operators; always null for the visitor' })),
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
const inputs = visitorFields.create;

export const visitorInput = body({
  site_id: Type.Optional(inputs.site_id),
  name: inputs.name,
  team_ids: inputs.team_ids,
});

/** Fields that visitors may set themselves; those of `operatorFields` only operators may set. */
const selfFields = {
  name: inputs.name,
  email: inputs.email,
  phone: inputs.phone,
  custom_attributes: inputs.custom_attributes,
  custom_attributes_update_method: Type.Optional(oneOf(['replace', 'merge'] as const)),
};
const operatorFields = {
  note: inputs.note,
  note_update_method: Type.Optional(oneOf(['replace', 'append'] as const)),
  team_ids: inputs.team_ids,
  external_id: inputs.external_id,
};
export const operatorOnlyFields = Object.keys(operatorFields);

export const visitorUpdate = update(
  { ...selfFields, ...operatorFields, site_id: inputs.site_id },
  visitorFields.readOnly,
);
export const visitorOutput = output('Visitor', visitorFields.output);
export const visitorMove = body({ site_id: uuid<'site'>() });
export const visitorPresence = body({ expires_in_sec: Type.Integer({ minimum: 1, maximum: maxPresenceLeaseSec }) });

export const visitorToken = output('VisitorToken', {
  id: uuid<'visitor'>(),
  access_token: Type.String(),
  expires_in: Type.Integer({ description: 'Lifetime of the token in seconds' }),
});

export type VisitorUpdate = Type.Static<typeof visitorUpdate>;

export type VisitorRow = RowOf<typeof table>;
export type VisitorSettings = SettingsOf<typeof table>;

export type VisitorMerge =
  { readonly changes: Partial<VisitorSettings> } | { readonly tooLarge: 'custom_attributes' | 'note' };

/** Applies an update. Notes and attributes are replaced or extended, as the update methods say. */
export function mergeVisitor(current: VisitorSettings, given: VisitorUpdate): VisitorMerge {
  const { note: addition, custom_attributes: attributes } = given;
  const noteAfter =
    given.note_update_method === 'append' && addition && current.note !== null
      ? `${current.note}\n${addition}`
      : addition;
  const base = given.custom_attributes_update_method === 'merge' ? current.custom_attributes : {};
  const attributesAfter = attributes && withoutNulls({ ...base, ...attributes });
  if ((noteAfter?.length ?? 0) > maxVisitorNoteLength) return { tooLarge: 'note' };
  if (attributesAfter && Object.keys(attributesAfter).length > maxVisitorAttributes)
    return { tooLarge: 'custom_attributes' };
  return { changes: visitorFields.changes({ ...given, note: noteAfter, custom_attributes: attributesAfter }) };
}

function withoutNulls(attributes: Record<string, string | null>): Record<string, string> {
  return Object.fromEntries(Object.entries(attributes).filter((entry): entry is [string, string] => entry[1] !== null));
}
