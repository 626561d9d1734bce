import { curlSample, typescriptSample } from './docs-samples.ts';
import { errors } from '../errors.ts';
import type { ApiDocument, ApiOperation, ApiParameter } from './openapi/model.ts';
import { pascalCase } from './openapi/operation-names.ts';

/**
 * Renders the API reference as one page without requests to other servers. Its script adds the search and "Try it"; everything can be
 * read without it.
 */
export function docsPage(api: ApiDocument, pathPrefix: string): string {
  const operations = Object.entries(api.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  );
  const byTag = Map.groupBy(operations, ({ operation }) => operation.tags?.[0] ?? 'Other');
  const groups = api.tags.flatMap(({ name, description }) => {
    const members = byTag.get(name);
    return members === undefined ? [] : [{ tag: name, description, members }];
  });
  const navigation = groups
    .map(({ tag, members }) => `<h2>${escape(tag)}</h2><ul>${members.map(navigationEntry).join('')}</ul>`)
    .join('');
  const sections = groups
    .map(
      ({ tag, description, members }) =>
        `<section><h2 id="${anchor(tag)}">${escape(tag)}</h2><p>${escape(description)}</p>${members
          .map((member) => operationArticle(member, api.components))
          .join('')}</section>`,
    )
    .join('');
  const events = Object.entries(api.webhooks).map(([type, { post }]) => listEvent(type, post, api.components.schemas));
  // Bodies and answers are shown with their operations.
  const ofOperations = operations.flatMap(({ operation }) => ownSchemas(operation));
  const shown = new Set([...events.map(({ name }) => name), ...ofOperations]);
  const schemas = Object.entries(api.components.schemas).filter(([name]) => !shown.has(name));
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escape(api.info.title)} API reference</title>
<link rel="stylesheet" href="${pathPrefix}/docs/style.css">
<script src="${pathPrefix}/docs/script.js" defer></script>
</head>
<body>
<nav aria-label="Reference"><p class="brand"><a href="#top">${escape(api.info.title)}</a> <small>${escape(api.info.version)}</small></p>
<p id="search" hidden><label>Search <kbd>/</kbd> <input type="search" autocomplete="off" spellcheck="false"></label> <output></output></p>
${navigation}
<h2>Events</h2><ul>${events.map(({ type, name }) => `<li><a href="#schema-${escape(name)}">${escape(type)}</a></li>`).join('')}</ul>
<h2>More</h2><ul><li><a href="#schemas">Schemas</a></li><li><a href="#errors">Errors</a></li><li><a href="${pathPrefix}/openapi.json">openapi.json</a></li><li><a href="${pathPrefix}/asyncapi.json">asyncapi.json</a></li></ul></nav>
<main id="top"><h1>API reference</h1><p>${escape(api.info.description ?? '')}</p>
<p>Send a token as <code>Authorization: Bearer …</code> (or <code>Token …</code>); get one with an API key at <a href="${operationLink('POST', '/operator_authentication/tokens')}">POST /operator_authentication/tokens</a>. Bodies are JSON. Every error is a <a href="#schema-Problem">Problem</a>.</p>
${sections}
<section><h2 id="events">Events</h2><p>What a webhook is sent, one request an event, as JSON.</p>${events.map(eventArticle).join('')}</section>
<section><h2 id="schemas">Schemas</h2>${schemas.map(schemaArticle).join('')}</section>
<section><h2 id="errors">Errors</h2>${errorTable()}</section>
</main>
</body>
</html>
`;
}

interface Listed {
  readonly path: string;
  readonly method: string;
  readonly operation: ApiOperation;
}

function navigationEntry({ path, method }: Listed): string {
  return `<li><a href="${operationLink(method, path)}"><span class="method ${method}">${method}</span> <span>${escape(path)}</span></a></li>`;
}

/** `CreateQueueRequest` and `CreateQueueResponse` are used by one operation, so their fields are shown in place. */
function ownSchemas({ operationId = '' }: ApiOperation): readonly string[] {
  return ['Request', 'Response'].map((part) => `${pascalCase(operationId)}${part}`);
}

function operationArticle(
  { path, method, operation }: Listed,
  { schemas, responses: shared }: ApiDocument['components'],
): string {
  const { parameters = [], requestBody, responses } = operation;
  const own = ownSchemas(operation);
  const inPlace = (schema: unknown): unknown => {
    const name = isSchema(schema) ? nameOf(schema) : '';
    return own.includes(name) ? schemas[name] : schema;
  };
  const body = inPlace(onlySchema(requestBody?.content));
  return `<article id="${anchor(`${method} ${path}`)}"${canBeTried(operation) ? ` data-operation="${escape(`${method} ${path}`)}"` : ''}>
<h3><span class="method ${method}">${method}</span> <code>${escape(path)}</code></h3>
<p>${escape(operation.summary ?? '')}${operation.description === undefined ? '' : `. ${escape(operation.description)}`}</p>
<p class="access">${escape(operation['x-access'] ?? '')}</p>
${parameters.length === 0 ? '' : `<h4>Parameters</h4>${fieldTable(parameters.map(parameterField))}`}
${body === undefined ? '' : `<h4>Body</h4>${schemaView(body)}`}
${Object.entries(responses)
  .filter(([status]) => status.startsWith('2'))
  .map(
    ([status, { content }]) =>
      `<h4>Response ${escape(status)}</h4>${responseView(inPlace(onlySchema(content)))}${exampleView(content)}`,
  )
  .join('')}
<h4>Errors</h4><p>${errorList(responses, shared)}</p>
<details><summary>With curl</summary><pre><code>${escape(curlSample(method, path, operation))}</code></pre></details>
<details><summary>In TypeScript</summary><pre><code>${escape(typescriptSample(method, path, operation, schemas))}</code></pre></details>
</article>`;
}

/** The description of a parameter is beside its schema. */
function parameterField({ name, in: place, required = false, schema, description }: ApiParameter): Field {
  return { name, note: place, required, schema: { ...(schema as object), description } };
}

/** The page sends JSON and shows complete answers: neither a file nor a stream. */
function canBeTried({ requestBody, responses }: ApiOperation): boolean {
  const types = Object.values(responses).flatMap(({ content = {} }) => Object.keys(content));
  const sent = Object.keys(requestBody?.content ?? {});
  return !types.includes('text/event-stream') && sent.every((type) => type === 'application/json');
}

/** The recorded answer. */
function exampleView(content: ApiOperation['responses'][string]['content']): string {
  const example = Object.values(content ?? {})[0]?.example;
  return example === undefined
    ? ''
    : `<details><summary>Example</summary><pre><code>${escape(JSON.stringify(example, null, 2))}</code></pre></details>`;
}

/** Links to the errors that an operation can answer. */
function errorList(responses: ApiOperation['responses'], shared: ApiDocument['components']['responses']): string {
  const names = Object.values(responses).map(({ $ref = '' }) => $ref.split('/').at(-1) ?? '');
  const text = JSON.stringify(names.map((name) => shared[name]));
  return Object.entries(errors)
    .filter(([code]) => text.includes(`"${code}"`))
    .map(([code, { status }]) => `${status} <a href="#error-${code}"><code>${code}</code></a>`)
    .join(', ');
}

/** A body has one content type: JSON, or that of a file. */
function onlySchema(content: Readonly<Record<string, { schema: unknown }>> = {}): unknown {
  return Object.values(content)[0]?.schema;
}

function responseView(schema: unknown): string {
  return schema === undefined || (isSchema(schema) && schema.type === 'null')
    ? '<p>No body.</p>'
    : schemaView(schema, 'response');
}

function schemaArticle([name, schema]: [string, unknown]): string {
  return `<article id="schema-${escape(name)}"><h3>${escape(name)}</h3>${schemaView(schema, 'response')}</article>`;
}

interface ListedEvent {
  readonly type: string;
  readonly summary: string;
  /** The name of its schema, which is shown with the event and not among the other schemas. */
  readonly name: string;
  readonly schema: unknown;
}

function listEvent(
  type: string,
  { summary = '', requestBody }: ApiOperation,
  schemas: ApiDocument['components']['schemas'],
): ListedEvent {
  const schema = requestBody?.content['application/json']?.schema;
  const name = isSchema(schema) ? nameOf(schema) : '';
  return { type, summary, name, schema: schemas[name] };
}

function eventArticle({ type, summary, name, schema }: ListedEvent): string {
  return `<article id="schema-${escape(name)}"><h3><code>${escape(type)}</code></h3><p>${escape(summary)}</p>${schemaView(schema, 'response')}</article>`;
}

interface Schema {
  readonly $ref?: string;
  readonly anyOf?: readonly unknown[];
  readonly oneOf?: readonly unknown[];
  readonly const?: string | number | boolean | null;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly format?: string;
  readonly items?: unknown;
  readonly properties?: Readonly<Record<string, unknown>>;
  readonly required?: readonly string[];
  readonly description?: string;
  readonly default?: unknown;
  readonly readOnly?: boolean;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
}

function isSchema(schema: unknown): schema is Schema {
  return typeof schema === 'object' && schema !== null;
}

/** A response has every field, so only requests show which fields are required. */
function schemaView(schema: unknown, of: 'request' | 'response' = 'request'): string {
  if (!isSchema(schema)) return '';
  if (schema.properties === undefined) return `<p>${typeView(schema)}</p>`;
  const fields = fieldsOf(schema).map((field) => ({ ...field, required: of === 'request' && field.required }));
  return fields.length === 0 ? '<p>An empty object.</p>' : fieldTable(fields);
}

/** The fields of an object, each followed by its nested fields, named by their path. */
function fieldsOf(schema: Schema): Field[] {
  return [...propertiesOf(schema)]
    .filter(([, field]) => !(isSchema(field) && field.readOnly === true && field.type === undefined))
    .flatMap(([name, field]) => {
      const within = isSchema(field) && isSchema(field.items) ? { path: `${name}[].`, schema: field.items } : null;
      const { path, schema: inner } = within ?? { path: `${name}.`, schema: field };
      return [
        { name, note: '', required: schema.required?.includes(name) ?? false, schema: field },
        ...(isSchema(inner) ? fieldsOf(inner).map((nested) => ({ ...nested, name: `${path}${nested.name}` })) : []),
      ];
    });
}

/** The fields of all alternatives. A field that differs between alternatives gets alternatives itself. */
function propertiesOf(schema: Schema): Map<string, unknown> {
  const fields = new Map<string, unknown>();
  for (const alternative of (schema.anyOf ?? schema.oneOf ?? [schema]).filter(isSchema)) {
    for (const [name, field] of Object.entries(alternative.properties ?? {})) {
      const known = fields.get(name);
      const differs = known !== undefined && JSON.stringify(known) !== JSON.stringify(field);
      fields.set(name, differs ? { anyOf: [known, field] } : field);
    }
  }
  return fields;
}

interface Field {
  readonly name: string;
  readonly note: string;
  readonly required: boolean;
  readonly schema: unknown;
}

function fieldTable(fields: readonly Field[]): string {
  const rows = fields.map(
    ({ name, note, required, schema }) =>
      `<tr><td><code>${escape(name)}</code>${required ? ' <b>required</b>' : ''}${note === '' ? '' : ` <small>${escape(note)}</small>`}</td>` +
      `<td>${typeView(schema)}</td><td>${isSchema(schema) ? rules(schema) : ''}</td></tr>`,
  );
  return `<table><thead><tr><th>Field</th><th>Type</th><th>Rule</th></tr></thead><tbody>${rows.join('')}</tbody></table>`;
}

function nameOf({ $ref = '' }: Schema): string {
  return $ref.split('/').at(-1) ?? '';
}

function typeView(schema: unknown): string {
  if (!isSchema(schema)) return 'anything';
  if (schema.$ref !== undefined) {
    const name = nameOf(schema);
    return `<a href="#schema-${escape(name)}">${escape(name)}</a>`;
  }
  const alternatives = schema.anyOf ?? schema.oneOf;
  if (alternatives !== undefined) return [...new Set(alternatives.map(typeView))].join(' or ');
  if (schema.const !== undefined) return `<code>${escape(String(schema.const))}</code>`;
  if (schema.enum !== undefined)
    return schema.enum.map((value) => `<code>${escape(String(value))}</code>`).join(' or ');
  if (schema.items !== undefined) return `list of ${typeView(schema.items)}`;
  return escape(
    [schema.type ?? 'anything']
      .flat()
      .map((type) => (type === 'string' && schema.format === 'uuid' ? 'UUID' : type))
      .join(' or '),
  );
}

function rules(schema: Schema): string {
  const { description, format, minimum, maximum, minLength, maxLength, minItems, maxItems } = schema;
  const range = (from: number | undefined, to: number | undefined, unit: string): string[] =>
    from === undefined && to === undefined ? [] : [`${from ?? 0} to ${to ?? 'any number of'}${unit}`];
  return escape(
    [
      description ?? [],
      format === undefined || format === 'uuid' ? [] : format,
      range(minimum, maximum, ''),
      range(minLength, maxLength, ' characters'),
      range(minItems, maxItems, ' elements'),
      schema.default === undefined ? [] : `default ${JSON.stringify(schema.default)}`,
    ]
      .flat()
      .join('; '),
  );
}

function errorTable(): string {
  const rows = Object.entries(errors).map(
    ([code, { status, title }]) =>
      `<tr id="error-${code}"><td>${status}</td><td><code>${code}</code></td><td>${escape(title)}</td></tr>`,
  );
  return `<table><thead><tr><th>Status</th><th>Code</th><th>Meaning</th></tr></thead><tbody>${rows.join('')}</tbody></table>`;
}

function operationLink(method: string, path: string): string {
  return `#${anchor(`${method} ${path}`)}`;
}

function anchor(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '');
}

function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}

export const docsStyle = `
:root { color-scheme: light dark; --ink: #1c2430; --soft: #5b6675; --line: #dde2e9; --paper: #fff; --shade: #f5f7fa; --mark: #0b5cad; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6eaf0; --soft: #9aa6b5; --line: #2c3542; --paper: #12171e; --shade: #1a212b; --mark: #6cb1ff; }
}
* { box-sizing: border-box; }
html { scroll-padding-top: 1rem; }
body { margin: 0; display: grid; grid-template-columns: 21rem minmax(0, 1fr); font: 15px/1.55 system-ui, sans-serif; color: var(--ink); background: var(--paper); }
nav { position: sticky; top: 0; height: 100vh; overflow-y: auto; padding: 1rem; background: var(--shade); border-right: 1px solid var(--line); font-size: 13px; }
nav h2 { margin: 1.1rem 0 .3rem; font-size: 12px; text-transform: uppercase; letter-spacing: .06em; color: var(--soft); }
nav ul { list-style: none; margin: 0; padding: 0; }
nav li a { display: flex; gap: .2rem; align-items: baseline; padding: .15rem .3rem; border-radius: 4px; color: inherit; text-decoration: none; overflow-wrap: anywhere; }
nav li a:hover { background: var(--line); }
.brand a { font-weight: 700; font-size: 18px; color: inherit; text-decoration: none; }
main { max-width: 62rem; padding: 1.5rem 2.5rem 6rem; }
a { color: var(--mark); }
article { padding: 1rem 0; border-top: 1px solid var(--line); }
article:target h3, tr:target { background: color-mix(in srgb, var(--mark) 16%, transparent); }
h3 { margin: .2rem 0; font-size: 16px; } h4 { margin: 1rem 0 .3rem; font-size: 13px; color: var(--soft); }
pre { margin: .4rem 0; padding: .6rem .8rem; overflow-x: auto; background: var(--shade); border: 1px solid var(--line); border-radius: 6px; }
pre code { overflow-wrap: normal; } summary { cursor: pointer; color: var(--mark); font-size: 13px; }
code { font: 13px/1.4 ui-monospace, monospace; overflow-wrap: anywhere; }
.method { display: inline-block; flex: none; min-width: 3.4rem; font: 700 11px ui-monospace, monospace; color: var(--mark); }
.DELETE { color: #b3261e; } .POST { color: #1a7f37; } .PUT, .PATCH { color: #8a6100; }
@media (prefers-color-scheme: dark) { .DELETE { color: #ff8a80; } .POST { color: #6fdd8b; } .PUT, .PATCH { color: #e8b84a; } }
.access { color: var(--soft); font-size: 13px; margin: .2rem 0; }
table { width: 100%; border-collapse: collapse; font-size: 13.5px; }
th, td { text-align: left; vertical-align: top; padding: .35rem .6rem .35rem 0; border-bottom: 1px solid var(--line); overflow-wrap: anywhere; }
th { color: var(--soft); font-weight: 600; } td b { font-size: 11px; color: #b3261e; }
@media (prefers-color-scheme: dark) { td b { color: #ff8a80; } }
#search input { width: 100%; padding: .35rem .5rem; font: inherit; color: inherit; background: var(--paper); border: 1px solid var(--soft); border-radius: 4px; }
[hidden] { display: none !important; }
kbd { padding: 0 .3rem; border: 1px solid var(--line); border-radius: 3px; font: 11px ui-monospace, monospace; }
.try form { display: grid; gap: .5rem; max-width: 40rem; padding: .6rem 0; }
.try label { display: grid; gap: .15rem; font-size: 13px; }
.try input, .try textarea { padding: .35rem .5rem; font: 13px/1.4 ui-monospace, monospace; color: inherit; background: var(--paper); border: 1px solid var(--soft); border-radius: 4px; }
.try button { padding: .35rem 1rem; font: inherit; color: var(--paper); background: var(--mark); border: 0; border-radius: 4px; cursor: pointer; }
.try button:disabled { opacity: .6; cursor: progress; }
.try pre { max-height: 30rem; overflow: auto; }
:focus-visible { outline: 2px solid var(--mark); outline-offset: 2px; }
@media (max-width: 50rem) { body { display: block; } nav { position: static; height: auto; max-height: 40vh; } main { padding: 1rem; } }
`;
