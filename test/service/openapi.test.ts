import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { Ajv } from 'ajv';
import { forThisFile } from '../support/fixture.ts';
import { startTestServer, type Json } from '../support/server.ts';
import { hangMs } from '../support/slowness.ts';
import { makeAccount } from '../support/world.ts';

const text = readFileSync('openapi.json', 'utf8');
const api: Json = JSON.parse(text);

interface Operation {
  readonly name: string;
  readonly operation: Json;
}

const operations: readonly Operation[] = Object.entries<Json>(api.paths).flatMap(([path, methods]) =>
  Object.entries<Json>(methods).map(([method, operation]) => ({ name: `${method.toUpperCase()} ${path}`, operation })),
);

/** The JSON contents of a request and of its successful answers. */
function contentsOf({ requestBody, responses }: Json): Json[] {
  const successes = Object.entries<Json>(responses).filter(([status]) => status.startsWith('2'));
  return [requestBody, ...successes.map(([, response]) => response)]
    .map((part) => part?.content?.['application/json'])
    .filter((content) => content !== undefined);
}

test('every operation and webhook has a stable name of its own, in camelCase', () => {
  const webhooks = Object.values<Json>(api.webhooks).map(({ post }) => post);
  const ids = [...operations.map(({ operation }) => operation), ...webhooks].map(({ operationId }) => operationId);
  for (const id of ids) assert.match(id, /^[a-z][A-Za-z]+$/);
  assert.equal(new Set(ids).size, ids.length);
});

test('every body and answer is a named schema with a recorded example', () => {
  for (const { name, operation } of operations)
    for (const { schema, example } of contentsOf(operation)) {
      assert.match(schema.$ref ?? '', /^#\/components\/schemas\/\w+$/, name);
      // A second success, such as 200 beside 201, has the same schema.
      const isOther = Object.keys(operation.responses).filter((status) => status.startsWith('2')).length > 1;
      if (!isOther) assert.notEqual(example, undefined, `${name} has no example`);
    }
});

test('every operation declares how it refuses an unknown query parameter', () => {
  for (const { name, operation } of operations) assert.ok('422' in operation.responses, name);
});

test('every operation, parameter and response has a description of its own words', () => {
  const missing = operations.flatMap(({ name, operation }) => {
    const { description, summary, parameters = [], responses } = operation;
    const parts: [string, string | undefined][] = [
      [name, description === summary ? undefined : description],
      ...parameters.map((each: Json) => [`${name} ${each.name}`, each.description] as const),
      ...Object.entries<Json>(responses).map(([status, response]) => {
        const { $ref = '', description: text } = response;
        return [`${name} ${status}`, $ref === '' ? text : api.components.responses[$ref.split('/').at(-1)].description];
      }),
    ];
    return parts.filter(([, text = '']) => !/\w{3}/.test(text) || text === 'Default Response').map(([part]) => part);
  });
  assert.deepEqual(missing, []);
});

test('a list in a query has the name with which it is sent', () => {
  const lists = operations.flatMap(({ operation }) =>
    (operation.parameters ?? []).filter(({ in: place, schema }: Json) => place === 'query' && schema.type === 'array'),
  );
  assert.ok(lists.length > 20);
  for (const { name } of lists) assert.match(name, /^\w+\[\]$/);
});

test('a webhook with an http URL needs a method, and an apns webhook has none', () => {
  const ajv = new Ajv({ strict: false, validateFormats: false });
  const events = ['engagement.end'];
  for (const name of ['CreateWebhookRequest', 'UpdateWebhookRequest', 'AttachedWebhook']) {
    const isValid = ajv.compile({ ...api.components.schemas[name], components: api.components });
    assert.equal(isValid({ url: 'https://hooks.example.com', events }), false, name);
    assert.equal(isValid({ url: 'https://hooks.example.com', method: null, events }), false, name);
    assert.equal(isValid({ url: 'https://hooks.example.com', method: 'POST', events }), true, name);
    assert.equal(isValid({ url: 'apns://a@com.example?env=sandbox', events }), true, name);
  }
});

/** Lists that were made before there was one way of paging. They keep their page numbers. */
const numbered = new Set(
  [
    '/sites /teams /operators /colleagues /queues /queues/{queue_id}/tickets /queues/scheduling_policies /phone_channels',
    '/digital_channels /files /sip_domains /webhooks',
  ].flatMap((paths) => paths.split(' ').map((path) => `GET ${path}`)),
);
/** Lists of the interface document, whose names of a range stay. */
const byDate = /^GET \/engagements$|\/stats\//;

test('lists are paged by cursor and limited by `from` and `to`, but for those that were made before', () => {
  for (const { name, operation } of operations) {
    const names = new Set((operation.parameters ?? []).map((parameter: Json) => parameter.name));
    if (names.has('per_page')) assert.equal(names.has('page'), numbered.has(name), name);
    if (names.has('per_page')) assert.equal(names.has('cursor'), !numbered.has(name), name);
    if (names.has('since') || names.has('until')) assert.ok(names.has('from') && names.has('to'), name);
    assert.equal(names.has('start_date'), byDate.test(name), name);
  }
});

test('every operation declares its errors as problem documents, with the headers that clients need', () => {
  for (const { name, operation } of operations) {
    const failures = Object.entries<Json>(operation.responses).filter(([status]) => status >= '400');
    for (const [status, { $ref }] of failures) {
      const { content, headers } = api.components.responses[$ref.split('/').at(-1)];
      assert.deepEqual(Object.keys(content), ['application/problem+json'], name);
      if (status === '429' || status === '503') assert.ok('Retry-After' in headers, name);
    }
    const names = new Set<string>((operation.parameters ?? []).map((parameter: Json) => parameter.name));
    const isKeyed = name.startsWith('POST') && operation.security.length > 0;
    assert.equal(names.has('Idempotency-Key'), isKeyed, name);
    assert.equal(names.has('If-Match'), '412' in operation.responses, name);
    for (const { name: parameter, required, schema } of operation.parameters ?? [])
      assert.ok(required !== true || schema.default === undefined, `${name}: ${parameter} has a default`);
  }
  const created = operations.filter(({ operation }) => '201' in operation.responses);
  const located = created.filter(({ operation }) => operation.responses['201'].headers?.Location !== undefined);
  assert.ok(located.length > 10, `${located.length} of ${created.length} have a Location`);
});

test('the feed is a stream of items that their type tells apart', () => {
  const { content } = api.paths['/feed'].get.responses['200'];
  assert.deepEqual(content, { 'text/event-stream': { schema: { $ref: '#/components/schemas/FeedItem' } } });
  const { oneOf, discriminator } = api.components.schemas.FeedItem;
  assert.equal(discriminator.propertyName, 'type');
  assert.equal(Object.keys(discriminator.mapping).length, oneOf.length);
  for (const type of ['feed.open', 'queue.state', 'engagement.start']) assert.ok(type in discriminator.mapping, type);
});

test("openapi.json and asyncapi.json pass Redocly's recommended rules, but for three paths that must stay", async () => {
  const config = await createConfig({ extends: ['recommended'] });
  const problemsOf = async (file: string): Promise<string[]> => {
    const problems = await lintFromString({ source: readFileSync(file, 'utf8'), absoluteRef: resolve(file), config });
    return problems.map(({ ruleId, message, location }) => `${ruleId}: ${message} (${location[0]?.pointer ?? ''})`);
  };
  assert.deepEqual(await problemsOf('asyncapi.json'), []);
  // These paths are part of the interface that existing clients use, and no id is `scheduling_policies`.
  const policy = '`/queues/scheduling_policies/{scheduling_policy_id}`';
  const ambiguous = (part: string): string =>
    `no-ambiguous-paths: Paths should resolve unambiguously. Found two ambiguous paths: ${policy} and ` +
    `\`/queues/{queue_id}/${part}\`. (#/paths/~1queues~1{queue_id}~1${part})`;
  assert.deepEqual(await problemsOf('openapi.json'), ['rankings', 'tickets', 'stats'].map(ambiguous));
});

interface AsyncApi {
  readonly Parser: new () => {
    validate(document: string): Promise<readonly { code: string; message: string; path: unknown[] }[]>;
  };
}

test('asyncapi.json is valid by the official parser of AsyncAPI', async () => {
  const { Parser } = createRequire(resolve('bench/package.json'))('@asyncapi/parser') as AsyncApi;
  const found = await new Parser().validate(readFileSync('asyncapi.json', 'utf8'));
  // The parser recommends the latest version of AsyncAPI; fewer tools read it.
  const problems = found.filter(({ code }) => code !== 'asyncapi-latest-version');
  assert.deepEqual(
    problems.map(({ message, path }) => `${message} (${path.join('/')})`),
    [],
  );
});

const run = promisify(execFile);

test(
  'a client that an ordinary generator makes compiles, and runs a whole engagement',
  { timeout: hangMs },
  async () => {
    const server = await forThisFile(startTestServer());
    const folder = mkdtempSync(join(tmpdir(), 'usher-client-'));
    try {
      const generator = resolve('bench/node_modules/@hey-api/openapi-ts/bin/run.js');
      const output = join(folder, 'usher');
      await run(
        process.execPath,
        [generator, '-i', resolve('openapi.json'), '-o', output, '-c', '@hey-api/client-fetch'],
        {
          cwd: resolve('bench'),
        },
      );
      cpSync('test/generated-client/engagement.ts', join(folder, 'engagement.ts'));
      const compiler = resolve('node_modules/typescript/bin/tsc');
      // CommonJS, because the generated code imports files without their extension, which only bundlers and CommonJS resolve.
      const flags = ['--strict', '--target', 'esnext', '--module', 'commonjs', '--moduleResolution', 'bundler'];
      const compiled = join(folder, 'compiled');
      const types = [
        '--types',
        'node',
        '--typeRoots',
        resolve('node_modules/@types'),
        '--lib',
        'esnext,dom,dom.iterable',
      ];
      await run(process.execPath, [
        compiler,
        ...flags,
        ...types,
        '--ignoreConfig',
        '--outDir',
        compiled,
        join(folder, 'engagement.ts'),
      ]);
      const account = await makeAccount(server);
      const { stdout } = await run(process.execPath, [join(compiled, 'engagement.js')], {
        env: { USHER_URL: server.url, KEY_ID: account.key.id, KEY_SECRET: account.key.secret, SITE_ID: account.siteId },
      });
      const { transcript, late, status } = JSON.parse(stdout);
      assert.deepEqual(
        transcript.map(({ content }: Json) => content),
        ['Hello.', 'Good morning.'],
      );
      assert.deepEqual([late, status], ['engagement_ended', 409]);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
);
