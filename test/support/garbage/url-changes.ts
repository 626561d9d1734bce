import type { Json } from '../server.ts';
import { encodeText, type Change, type Draft } from './draft.ts';
import { resolved, type Vocabulary } from './fields.ts';
import { nearMissesOf } from '../api/near-misses.ts';
import { texts, valuesNear, type Named } from './values.ts';

/** A parameter of an operation as openapi.json describes it. */
export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly schema: Json;
}

/** What Node still accepts as a line of a request. */
const longText = 'a'.repeat(8_000);

/** Every change of each query parameter, and of the query as a whole. */
export function queryChanges(vocabulary: Vocabulary, parameters: readonly Parameter[]): Change[] {
  const each = parameters.filter((parameter) => parameter.in === 'query');
  return [...each.flatMap((parameter) => parameterChanges(vocabulary, parameter)), ...wholeQueryChanges];
}

function nameOf(part: string): string {
  return (part.split('=', 1)[0] ?? '').replaceAll(/\[.*|%5B.*/gi, '');
}

function parameterChanges(vocabulary: Vocabulary, { name: declared, schema }: Parameter): Change[] {
  const own = resolved(vocabulary, schema);
  const name = nameOf(declared);
  const change = (what: string, edit: (others: readonly string[], part: string) => readonly string[]): Change => ({
    name: `?${declared}: ${what}`,
    // In another spelling it may be another parameter.
    ...(what.startsWith('spelled') ? {} : { field: `/${name}` }),
    apply(draft) {
      const part = draft.query.find((each) => nameOf(each) === name) ?? `${declared}=1`;
      return {
        ...draft,
        query: edit(
          draft.query.filter((each) => nameOf(each) !== name),
          part,
        ),
      };
    },
  });
  const element = own?.type === 'array' ? resolved(vocabulary, own.items) : own;
  const foreign = element?.format === 'uuid' ? vocabulary.foreignIds : [];
  const values: Named<unknown>[] = [
    ...texts,
    ['8,000 characters', () => longText],
    ...valuesNear(element, element?.format === 'uuid' ? crypto.randomUUID() : undefined),
    ...foreign.map((id): Named<unknown> => [`the foreign id ${id}`, () => id]),
    ['a cursor of nothing', () => Buffer.from(`1 ${crypto.randomUUID()}`).toString('base64url')],
    ['a cursor of the end of time', () => Buffer.from(`8640000000000001 ${crypto.randomUUID()}`).toString('base64url')],
    ['a cursor that is no number', () => Buffer.from('x y').toString('base64url')],
  ];
  return [
    ...values.map(([what, make]) => change(what, (others) => [...others, `${declared}=${encodeText(String(make()))}`])),
    ...[name, `${name}[]`, `${name}[0]`, `${name}[9999]`, `${name}[99999]`, `${name}[a]`, `${name}[a][b][]`, `${name}[`, `${name}]`, `${name}[[]]`, `${name}%5B%5D`, `${name}[__proto__]`, `${name}[constructor][prototype]`, `${name}[]${'[]'.repeat(50)}`, name.toUpperCase(), `${name}%00`].map((spelling) => change(`spelled ${spelling.slice(0, 40)}`, (others, part) => [...others, `${spelling}=${part.slice(part.indexOf('=') + 1)}`])), // prettier-ignore
    change('is missing', (others) => others),
    change('has no value', (others) => [...others, declared]),
    change('is there twice', (others, part) => [...others, part, part]),
    change('is there twice, the second empty', (others, part) => [...others, part, `${declared}=`]),
    change('is there in two spellings', (others, part) => [...others, part, `${name}[a]=1`, `${name}=2`]),
    change('is there 1,200 times', (others, part) => [
      ...others,
      ...Array<string>(1_200).fill(`${name}=${part.length}`),
    ]),
    change('is half of an escape', (others) => [...others, `${declared}=%`]),
    change('is an invalid escape', (others) => [...others, `${declared}=%zz`]),
    change('is an invalid byte', (others) => [...others, `${declared}=%ff%fe`]),
    change('has an encoded NUL', (others) => [...others, `${declared}=%00`]),
  ];
}

function wholeQueryChange(name: string, edit: (query: readonly string[]) => readonly string[]): Change {
  return { name: `the query ${name}`, apply: (draft) => ({ ...draft, query: edit(draft.query) }) };
}

const wholeQueryChanges: readonly Change[] = [
  wholeQueryChange('has an unknown parameter', (query) => [...query, 'unheard_of=1']),
  wholeQueryChange('has __proto__', (query) => [
    ...query,
    '__proto__=1',
    '__proto__[a]=1',
    'constructor[prototype][a]=1',
  ]),
  wholeQueryChange('has an empty name', (query) => [...query, '=1', '', '&&', '[]=1', '[a]=1']),
  wholeQueryChange('has a cache buster', (query) => [...query, '_=1', '_[]=1']),
  wholeQueryChange('has the name of a method', (query) => [...query, 'toString=1', 'hasOwnProperty=1', 'length=1']),
  wholeQueryChange('names an action', (query) => [...query, 'action=end']),
  wholeQueryChange('has semicolons', (query) => [query.join(';')]),
  wholeQueryChange('is encoded twice', (query) => query.map((part) => encodeURIComponent(part))),
  wholeQueryChange('has a second question mark', (query) => ['?', ...query]),
  wholeQueryChange('has bytes that are not ASCII', (query) => [...query, 'a=\u00e9']),
  wholeQueryChange('is nested 60 deep', (query) => [...query, `a${'[b]'.repeat(60)}=1`]),
  wholeQueryChange('has 1,100 parameters', (query) => [...query, ...Array.from({ length: 1_100 }, (_, n) => `a${n}=`)]),
];

/** Every change of each parameter in the path, and of the path as a whole. `pattern` is the path of openapi.json. */
export function pathChanges(vocabulary: Vocabulary, pattern: string): Change[] {
  const segments = pattern.split('/');
  const parameters = segments.flatMap((segment, at) => (segment.startsWith('{') ? [{ name: segment, at }] : []));
  return [...parameters.flatMap(({ name, at }) => segmentChanges(vocabulary, name, at)), ...wholePathChanges];
}

function segmentChanges({ foreignIds }: Vocabulary, name: string, at: number): Change[] {
  const change = (what: string, edit: (segment: string) => string): Change => ({
    name: `${name} in the path: ${what}`,
    apply: (draft) => ({
      ...draft,
      path: draft.path.split('/').map((segment, index) => (index === at ? edit(segment) : segment)).join('/'), // prettier-ignore
    }),
  });
  return [
    ...texts.map(([what, make]) => change(what, () => encodeText(make()))),
    ...foreignIds.map((id) => change(`the foreign id ${id}`, () => id)),
    ...nearMissesOf('uuid', '%').map((shape) =>
      change(`the id as ${JSON.stringify(shape)}`, (segment) => encodeText(shape).replaceAll('%25', segment)),
    ),
    change('300 characters', () => 'a'.repeat(300)),
    change('7,000 characters', () => 'a'.repeat(7_000)),
    ...['.', '..', '%2e', '%2e%2e', '%2F', '%5c', '%2e%2e%2f', '%zz', '%', '%ff', '%00', '*', ':id', '{id}', ';a=b', 'current', 'search', 'stats', 'preview'].map((text) => change(text, () => text)), // prettier-ignore
    change('the id, a slash', (segment) => `${segment}/`),
    change('the id, an encoded slash', (segment) => `${segment}%2F`),
    change('the id, a parameter', (segment) => `${segment};a=b`),
    change('the id with an encoded hyphen', (segment) => segment.replaceAll('-', '%2D')),
  ];
}

function wholePathChange(name: string, edit: (path: string) => string): Change {
  return { name: `the path ${name}`, apply: (draft: Draft) => ({ ...draft, path: edit(draft.path) }) };
}

const wholePathChanges: readonly Change[] = [
  wholePathChange('has doubled slashes', (path) => path.replaceAll('/', '//')),
  wholePathChange('ends with a slash', (path) => `${path}/`),
  wholePathChange('begins with dots', (path) => `/./x/..${path}`),
  wholePathChange('leaves the root', (path) => `/../..${path}`),
  wholePathChange('ends with dots', (path) => `${path}/..`),
  wholePathChange('is in capitals', (path) => path.toUpperCase()),
  wholePathChange('has an encoded letter', (path) => path.replace(/^\/(.)/, (_, first: string) => `/%${(first.codePointAt(0) ?? 0).toString(16)}`)), // prettier-ignore
  wholePathChange('has encoded slashes', (path) => `/${path.slice(1).replaceAll('/', '%2F')}`),
  wholePathChange('has backslashes', (path) => path.replaceAll('/', '\\').replace('\\', '/')),
  wholePathChange('has an extension', (path) => `${path}.json`),
  wholePathChange('has a fragment', (path) => `${path}#a`),
  wholePathChange('has a matrix parameter', (path) => `${path};jsessionid=1`),
  wholePathChange('has a NUL', (path) => `${path}%00`),
  wholePathChange('ends with a space', (path) => `${path}%20`),
  wholePathChange('has an invalid escape', (path) => `${path}%`),
  wholePathChange('is absolute', (path) => `http://other.example${path}`),
];
