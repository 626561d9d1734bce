/** The keywords of JSON Schema that define which fields an object has, and in which order. */
export interface FieldSchema {
  readonly properties?: Readonly<Record<string, FieldSchema>>;
  readonly additionalProperties?: unknown;
  readonly items?: FieldSchema;
  readonly anyOf?: readonly FieldSchema[];
}

type Arrange = (value: unknown) => unknown;

/**
 * Returns a function that copies a value of `schema` with the fields of every object in the schema's order; `null`: the schema
 * has no objects. Additional fields come last. The alternatives of an `anyOf` must agree about fields they share.
 */
export function fieldOrder(schema: FieldSchema): Arrange | null {
  const element = schema.items === undefined ? null : fieldOrder(schema.items);
  if (element !== null) return (value) => (Array.isArray(value) ? value.map(element) : value);
  const alternatives = (schema.anyOf ?? [schema]).filter(({ properties }) => properties !== undefined);
  const fields = alternatives.flatMap(({ properties = {} }) =>
    Object.entries(properties).map(([name, field]) => [name, fieldOrder(field)] as const),
  );
  if (fields.length === 0) return null;
  const order = [...new Map(fields)];
  const isOpen = alternatives.some(({ additionalProperties }) => additionalProperties !== false);
  return (value) => (isObject(value) ? arrangeFields(value, order, isOpen) : value);
}

function arrangeFields(
  value: Readonly<Record<string, unknown>>,
  order: readonly (readonly [string, Arrange | null])[],
  isOpen: boolean,
): Record<string, unknown> {
  const copy: Record<string, unknown> = {};
  for (const [name, arrange] of order) {
    const field = value[name];
    if (field !== undefined) copy[name] = arrange === null ? field : arrange(field);
  }
  // In a spread, a field keeps the position of its first mention and the value of its last.
  return isOpen ? { ...copy, ...value, ...copy } : copy;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
