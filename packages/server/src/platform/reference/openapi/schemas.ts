/** A node of a JSON document. */
export type Node = unknown;

type Fields = Record<string, unknown>;

/** Keywords of `validation.ts` that JSON Schema does not have. */
const ownKeywords: ReadonlySet<string> = new Set(['lowercase', 'uppercase', 'absentIfNull']);

/** In AsyncAPI a discriminator is a field whose values are names of schemas, which ours are not. It has `oneOf` alone. */
type Format = 'OpenAPI' | 'AsyncAPI';

/** Moves every schema with a title to the components and replaces it by a reference. In OpenAPI, unions get a discriminator. */
export function hoist(node: Node, schemas: Fields, format: Format = 'OpenAPI'): Node {
  if (Array.isArray(node)) return node.map((child) => hoist(child, schemas, format));
  if (!isObject(node)) return node;
  const { documented = {}, ...stated } = node;
  const fields = Object.entries({ ...stated, ...(documented as Fields) })
    .filter(([field]) => !ownKeywords.has(field))
    // An example is data, and may have a field named title.
    .map(([field, value]) => [field, field === 'example' ? value : hoist(value, schemas, format)] as const);
  const { title, ...schema } = discriminated(Object.fromEntries(fields), schemas, format);
  if (typeof title !== 'string' || !['type', 'anyOf', 'oneOf'].some((keyword) => keyword in schema))
    return title === undefined ? schema : { title, ...schema };
  if (title in schemas && JSON.stringify(schemas[title]) !== JSON.stringify(schema))
    throw new Error(`two different schemas have the title ${title}`);
  schemas[title] = schema;
  return { $ref: `#/components/schemas/${title}` };
}

function isObject(node: Node): node is Fields {
  return typeof node === 'object' && node !== null;
}

/** The union of named schemas, which their discriminator tells apart. */
export function union(members: readonly Node[], schemas: Fields, description?: string): Node {
  const found = discriminatorOf(members, schemas);
  if (found === null) throw new Error('no field tells the members of the union apart');
  return { ...(description === undefined ? {} : { description }), oneOf: members, discriminator: found };
}

/** `anyOf` as `oneOf`, with a discriminator, if a field tells the members apart. A member `null` stays outside. */
function discriminated(schema: Fields, schemas: Fields, format: Format): Fields {
  const { anyOf, ...rest } = schema;
  if (!Array.isArray(anyOf)) return schema;
  const isNull = (member: unknown): boolean => isObject(member) && member['type'] === 'null';
  const members = anyOf.filter((member) => !isNull(member));
  const discriminator = discriminatorOf(members, schemas);
  if (discriminator === null) return schema;
  const exclusive = { oneOf: members, ...(format === 'OpenAPI' ? { discriminator } : {}) };
  return members.length === anyOf.length
    ? { ...rest, ...exclusive }
    : { ...rest, anyOf: [exclusive, { type: 'null' }] };
}

interface Discriminator {
  readonly propertyName: string;
  readonly mapping: Readonly<Record<string, string>>;
}

/** The required field whose constant values are different in every member. Only named schemas can have a discriminator. */
function discriminatorOf(members: readonly unknown[], schemas: Fields): Discriminator | null {
  if (members.length < 2) return null;
  const named = members.map((member) => {
    const reference = isObject(member) ? member['$ref'] : undefined;
    return typeof reference === 'string' ? reference : null;
  });
  if (named.includes(null)) return null;
  const objects = named.map((reference) => schemas[(reference ?? '').split('/').at(-1) ?? ''] as Fields);
  const candidates = Object.keys(objects[0]?.['properties'] ?? {});
  for (const propertyName of candidates) {
    const values = objects.map((object) => constantsOf(object, propertyName));
    const all = values.flat();
    if (values.some((own) => own.length === 0) || new Set(all).size !== all.length) continue;
    const mapping = values.flatMap((own, index) => own.map((value) => [value, named[index] ?? ''] as const));
    return { propertyName, mapping: Object.fromEntries(mapping) };
  }
  return null;
}

/** The values that a required field of the object may have; empty if it may have any. */
function constantsOf(object: Fields, name: string): readonly string[] {
  const required = object['required'];
  const field = ((object['properties'] ?? {}) as Fields)[name];
  if (!Array.isArray(required) || !required.includes(name) || !isObject(field)) return [];
  const values = 'const' in field ? [field['const']] : field['enum'];
  return Array.isArray(values) && values.every((value) => typeof value === 'string') ? values : [];
}
