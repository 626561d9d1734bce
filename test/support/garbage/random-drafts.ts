import fc from 'fast-check';
import { nearMisses } from '../api/near-misses.ts';
import type { Json } from '../server.ts';
import { encodeText, withHeader, type Draft } from './draft.ts';
import { resolved, type Vocabulary } from './fields.ts';
import type { Operation } from './operations.ts';

const nastyText = fc.oneof(
  fc.constantFrom('', '\0', '\ud800', '__proto__', 'constructor', '../../etc', "'; DROP TABLE sites; --", '${jndi}', '%00', 'a'.repeat(5_000), '\ufdfd', '9'.repeat(400)), // prettier-ignore
  fc.array(fc.nat(0x10_ff_ff), { maxLength: 20 }).map((points) => String.fromCodePoint(...points)),
);
const nastyNumber = fc.oneof(
  fc.constantFrom(-1, 0, 1e308, -1e308, 2 ** 31, 2 ** 53, 0.1),
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
);
const anything = fc.oneof(nastyText, nastyNumber, fc.boolean(), fc.constant(null), fc.jsonValue({ maxDepth: 4 }));

/** Requests with arbitrary values and with values that mostly fit the schema. */
export function randomDrafts(vocabulary: Vocabulary, operation: Operation, knownIds: readonly string[]) {
  const generator = new ValueGenerator(vocabulary, knownIds);
  const { parameters, bodySchema } = operation;
  const edit = fc.record({
    values: fc.record(Object.fromEntries(parameters.map(({ name, schema }) => [name, generator.from(schema)]))),
    body:
      bodySchema === undefined
        ? fc.constant(undefined)
        : fc.oneof({ weight: 9, arbitrary: generator.from(bodySchema) }, { weight: 1, arbitrary: anything }),
    isStranger: fc.boolean(),
    headers,
  });
  /** As many requests as are asked for, made of the draft. */
  return (draft: Draft, count: number, seed: number): Draft[] =>
    fc.sample(edit, { numRuns: count, seed }).map((made) => {
      const values = made.values as Record<string, unknown>;
      const isIn = (where: string) => parameters.filter((parameter) => parameter.in === where);
      const path = operation.pattern.replaceAll(/\{(\w+)\}/g, (_, name: string) => encode(values[name]));
      const query = isIn('query').flatMap(({ name }) =>
        [values[name]].flat().map((value) => `${name.replace('[]', '')}[]=${encode(value)}`),
      );
      const edited: Draft = {
        ...draft,
        path: made.isStranger && isIn('path').length > 0 ? path : draft.path,
        query,
        body: made.body === undefined || typeof made.body === 'string' ? draft.body : made.body,
      };
      return Object.entries(made.headers).reduce((next, [name, value]) => withHeader(next, name, value ?? ''), edited);
    });
}

const headers = fc.record(
  {
    'if-match': fc.constantFrom('"1"', '*', 'W/"1"', '""', '"9999999999999999999999"', '"-1"', 'x', '"1", "2"'),
    'idempotency-key': fc.oneof(fc.uuid(), fc.constantFrom('x', 'y z', 'k'.repeat(300))),
    'x-request-id': fc.constantFrom('ok', '{"a":1}', 'x'.repeat(500)),
    origin: fc.constantFrom('null', 'https://a.example', 'nonsense', '*'),
    accept: fc.constantFrom('*/*', 'text/nonsense'),
    prefer: fc.constantFrom('handling=lenient', 'handling=strict'),
  },
  { requiredKeys: [] },
);

function encode(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
  return encodeText(text).replaceAll('.', '%2E');
}

class ValueGenerator {
  readonly #vocabulary: Vocabulary;
  readonly #knownIds: readonly string[];

  constructor(vocabulary: Vocabulary, knownIds: readonly string[]) {
    this.#vocabulary = vocabulary;
    this.#knownIds = knownIds;
  }

  /** Values that mostly fit the schema. */
  from(schema: Json): fc.Arbitrary<unknown> {
    if (schema === undefined) return anything;
    const own = resolved(this.#vocabulary, schema);
    return fc.oneof({ weight: 5, arbitrary: this.#fitting(own) }, { weight: 1, arbitrary: anything });
  }

  #fitting(schema: Json): fc.Arbitrary<unknown> {
    if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
    switch ([schema.type].flat()[0]) {
      case 'object': {
        const fields = Object.entries<Json>(schema.properties ?? {}).map(([name, field]) => [name, this.from(field)]);
        const known = fc.record(Object.fromEntries(fields), { requiredKeys: schema.required ?? [] });
        const more = fc
          .tuple(known, fc.dictionary(nastyText, anything, { maxKeys: 3 }))
          .map(([a, b]) => ({ ...a, ...b }));
        return fc.oneof({ weight: 4, arbitrary: known }, { weight: 1, arbitrary: more });
      }
      case 'array':
        return fc.array(this.from(schema.items), { maxLength: 4 });
      case 'integer':
      case 'number':
        return fc.oneof(
          fc.integer({ min: schema.minimum ?? -10, max: Math.min(schema.maximum ?? 1e6, 1e6) }),
          nastyNumber,
        );
      case 'boolean':
        return fc.boolean();
      default:
        return this.#textOf(schema.format);
    }
  }

  #textOf(format: string | undefined): fc.Arbitrary<unknown> {
    const known = this.#knownIds;
    if (format === 'uuid') return fc.oneof(fc.constantFrom(...known), fc.uuid(), nearMisses(format, known));
    if (format !== undefined) return fc.oneof(nearMisses(format, known), nastyText);
    return fc.oneof(fc.constantFrom('name', 'a@b', 'UTC', 'text', 'https://a.example'), nastyText);
  }
}
