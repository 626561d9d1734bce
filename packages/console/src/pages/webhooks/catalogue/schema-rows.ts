import { texts } from '../texts.ts';

/** A field of a JSON Schema, as a row of a tree. */
export interface SchemaRow {
  readonly path: string;
  readonly depth: number;
  readonly name: string;
  readonly type: string;
  readonly required: boolean;
  readonly description: string;
}

interface Schema {
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly format?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
}

/** The maximum depth. The schemas are ours, and none is deeper. */
const maxDepth = 12;

export function schemaRows(schema: unknown): readonly SchemaRow[] {
  return rowsOf(schema as Schema, '', 0);
}

function rowsOf(schema: Schema, path: string, depth: number): readonly SchemaRow[] {
  if (depth > maxDepth) return [];
  const variants = schema.anyOf ?? [];
  return [
    ...fieldsOf(schema, path, depth),
    ...(schema.items === undefined ? [] : rowsOf(schema.items, `${path}[]`, depth)),
    ...variants.flatMap((variant, index) =>
      variantRows(variant, `${path}|${index + 1}`, { depth, index, of: variants.length }),
    ),
  ];
}

function fieldsOf({ properties = {}, required = [] }: Schema, path: string, depth: number): readonly SchemaRow[] {
  return Object.entries(properties).flatMap(([name, field]) => {
    const fieldPath = `${path}/${name}`;
    const row = {
      path: fieldPath,
      depth,
      name,
      type: typeOf(field),
      required: required.includes(name),
      description: field.description ?? '',
    };
    return [row, ...rowsOf(field, fieldPath, depth + 1)];
  });
}

function variantRows(
  variant: Schema,
  path: string,
  { depth, index, of }: { readonly depth: number; readonly index: number; readonly of: number },
): readonly SchemaRow[] {
  const rows = rowsOf(variant, path, depth + 1);
  if (rows.length === 0) return [];
  const name = texts.variant(index + 1, of);
  return [
    { path, depth, name, type: typeOf(variant), required: true, description: variant.description ?? '' },
    ...rows,
  ];
}

function typeOf(schema: Schema): string {
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum !== undefined) return schema.enum.map((value) => JSON.stringify(value)).join(' | ');
  if (schema.anyOf !== undefined)
    return schema.anyOf.every(({ properties }) => properties !== undefined)
      ? 'object'
      : schema.anyOf.map(typeOf).join(' | ');
  const types = typeof schema.type === 'string' ? [schema.type] : (schema.type ?? ['any']);
  return types
    .map((type) => (type === 'string' && schema.format !== undefined ? schema.format : type))
    .map((type) => (type === 'array' && schema.items !== undefined ? texts.listOf(typeOf(schema.items)) : type))
    .join(' | ');
}
