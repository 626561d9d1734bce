import type { Visitor } from '@usher/sdk/api-types';

/** The fields of the form, as typed. */
export interface VisitorFields {
  readonly name: string;
  readonly email: string;
  readonly phone: string;
  readonly note: string;
  readonly attributes: readonly { readonly name: string; readonly value: string }[];
}

export function fieldsOf(visitor: Visitor): VisitorFields {
  const { name, email, phone, note, custom_attributes: attributes } = visitor;
  return {
    name: name ?? '',
    email: email ?? '',
    phone: phone ?? '',
    note: note ?? '',
    attributes: Object.entries(attributes).map(([key, value]) => ({ name: key, value })),
  };
}

interface VisitorChange {
  name?: string | null;
  email?: string | null;
  phone?: string | null;
  note?: string | null;
  custom_attributes?: Record<string, string | null>;
  custom_attributes_update_method?: 'merge';
}

/** Only the changed fields, so that changes by others are kept; `null` if nothing changed. */
export function changesOf(before: VisitorFields, after: VisitorFields): VisitorChange | null {
  const change: VisitorChange = {};
  for (const field of ['name', 'email', 'phone', 'note'] as const) {
    const text = after[field].trim();
    if (text !== before[field].trim()) change[field] = text === '' ? null : text;
  }
  const previous = new Map(before.attributes.map(({ name, value }) => [name, value]));
  const current = new Map(
    after.attributes.map(({ name, value }) => [name.trim(), value] as const).filter(([name]) => name !== ''),
  );
  const attributes = [
    ...[...current].filter(([name, value]) => previous.get(name) !== value),
    ...[...previous.keys()].filter((name) => !current.has(name)).map((name) => [name, null] as const),
  ];
  if (attributes.length > 0) {
    change.custom_attributes = Object.fromEntries(attributes);
    change.custom_attributes_update_method = 'merge';
  }
  return Object.keys(change).length === 0 ? null : change;
}
