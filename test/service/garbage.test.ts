import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { openWorld } from '../support/fixture.ts';
import { nearMisses } from '../support/api/near-misses.ts';
import { call, type Json } from '../support/server.ts';
import { hangMs } from '../support/slowness.ts';
import { makeWebhook } from '../support/receivers/webhooks.ts';
import { makePolicy, makeQueue, makeTeam, makeVisitor } from '../support/world.ts';

/**
 * Sends generated garbage to every operation of openapi.json: near misses of its schema, and arbitrary values. The response must
 * always be one that the interface describes, with a status below 500.
 */
const isLong = process.env['PROVE'] !== undefined;
/** The long form sends more than 200,000 requests. */
const runsPerOperation = isLong ? 1_600 : 40;

const { server, account } = await openWorld();
const visitor = await makeVisitor(server, account);
const ids: Readonly<Record<string, string>> = {
  site_id: account.siteId,
  team_id: await makeTeam(server, account, account.siteId),
  operator_id: account.adminId,
  visitor_id: visitor.id,
  queue_id: await makeQueue(server, account),
  scheduling_policy_id: await makePolicy(server, account),
  webhook_id: (await makeWebhook(server, account)).id,
};
const { body } = await call(server, 'GET /openapi.json');
const paths: Record<string, Record<string, Json>> = body.paths;
const schemas: Record<string, Json> = body.components.schemas;

const nastyText = fc.oneof(
  fc.constantFrom(
    '',
    '\0',
    '\ud800',
    '__proto__',
    'constructor',
    '../../etc',
    "'; DROP TABLE sites; --",
    '${jndi}',
    '%00',
    'a'.repeat(5_000),
    '﷽',
    '9'.repeat(400),
  ),
  fc.string({ unit: 'binary', maxLength: 40 }),
);
const nastyNumber = fc.oneof(
  fc.constantFrom(-1, 0, 1e308, -1e308, 2 ** 31, 2 ** 53, 0.1),
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
);
const anything = fc.oneof(nastyText, nastyNumber, fc.boolean(), fc.constant(null), fc.jsonValue({ maxDepth: 4 }));

/** Values that mostly fit the schema. */
function fromSchema(schema: Json): fc.Arbitrary<unknown> {
  if (schema === undefined) return anything;
  if (schema.$ref !== undefined) return fromSchema(schemas[schema.$ref.split('/').at(-1)]);
  return fc.oneof({ weight: 5, arbitrary: fitting(schema) }, { weight: 1, arbitrary: anything });
}

function fitting(schema: Json): fc.Arbitrary<unknown> {
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  switch ([schema.type].flat()[0]) {
    case 'object': {
      const fields = Object.entries(schema.properties ?? {}).map(([name, field]) => [name, fromSchema(field)] as const);
      const known = fc.record(Object.fromEntries(fields), { requiredKeys: schema.required ?? [] });
      return fc.oneof(
        { weight: 4, arbitrary: known },
        {
          weight: 1,
          arbitrary: fc
            .tuple(known, fc.dictionary(nastyText, anything, { maxKeys: 3 }))
            .map(([a, b]) => ({ ...a, ...b })),
        },
      );
    }
    case 'array':
      return fc.array(fromSchema(schema.items), { maxLength: 4 });
    case 'integer':
    case 'number':
      return fc.oneof(
        fc.integer({ min: schema.minimum ?? -10, max: Math.min(schema.maximum ?? 1e6, 1e6) }),
        nastyNumber,
      );
    case 'boolean':
      return fc.boolean();
    default:
      return textOf(schema.format);
  }
}

function textOf(format: string | undefined): fc.Arbitrary<unknown> {
  const known = Object.values(ids);
  if (format === 'uuid') return fc.oneof(fc.constantFrom(...known), fc.uuid(), nearMisses(format, known));
  if (format !== undefined) return fc.oneof(nearMisses(format, known), nastyText);
  return fc.oneof(fc.constantFrom('name', 'a@b', 'UTC', 'text', 'https://a.example'), nastyText);
}

const headers = fc.record(
  {
    'if-match': fc.constantFrom('"1"', '*', 'W/"1"', '""', '"9999999999999999999999"', '"-1"', 'x', '"1", "2"'),
    'idempotency-key': fc.oneof(fc.uuid(), fc.constantFrom('x', 'y z', 'k'.repeat(300))),
    'x-request-id': fc.constantFrom('ok', '{"a":1}', 'x'.repeat(500)),
    origin: fc.constantFrom('null', 'https://a.example', 'nonsense', '*'),
    accept: fc.constantFrom('*/*', 'text/nonsense'),
    'x-forwarded-for': fc.constantFrom('1.2.3.4', 'nonsense', '::'),
  },
  { requiredKeys: [] },
);

test('no garbage makes an operation answer with a 5xx', { timeout: isLong ? 3_600_000 : hangMs }, async (t) => {
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  );
  assert.ok(operations.length > 20);
  const statuses = new Map<number, number>();
  for (const { path, method, operation } of operations) {
    // The token must stay valid, so operations that revoke it are called with invalid tokens.
    const token = path.endsWith('/sessions/current') ? 'none' : account.admin;
    await t.test(`${method} ${path}`, async () => {
      const parameters: Json[] = operation.parameters ?? [];
      const body = operation.requestBody?.content['application/json']?.schema;
      const request = fc.record({
        values: fc.record(Object.fromEntries(parameters.map(({ name, schema }) => [name, fromSchema(schema)]))),
        body:
          body === undefined
            ? fc.constant(undefined)
            : fc.oneof({ weight: 9, arbitrary: fromSchema(body) }, { weight: 1, arbitrary: anything }),
        headers,
        stranger: fc.boolean(),
      });
      await fc.assert(
        fc.asyncProperty(request, async (made) => {
          const values = made.values as Record<string, unknown>;
          const parametersIn = (where: string): Json[] => parameters.filter((parameter) => parameter.in === where);
          const filled = parametersIn('path').reduce(
            (text: string, { name }) =>
              text.replace(`{${name}}`, encode(made.stranger ? values[name] : (ids[name] ?? values[name]))),
            path,
          );
          const query = parametersIn('query')
            .map(({ name }) =>
              [values[name]]
                .flat()
                .map((value) => `${name.replace('[]', '')}[]=${encode(value)}`)
                .join('&'),
            )
            .join('&');
          const answer = await call(server, `${method} ${filled}?${query}`, {
            token,
            body: made.body === undefined ? undefined : JSON.stringify(made.body),
            headers: made.headers,
          });
          statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
          assert.ok(answer.status < 500, `${answer.status} ${JSON.stringify(answer.body)}`);
          if (answer.status >= 400) assert.equal(answer.body.status, answer.status);
        }),
        { numRuns: runsPerOperation },
      );
    });
  }
  // If validation refused all garbage, the test would not reach the handlers.
  for (const status of [200, 201, 404, 422])
    assert.ok((statuses.get(status) ?? 0) >= 5, `few ${status}: ${JSON.stringify([...statuses])}`);
  assert.equal((await call(server, 'GET /sites', { token: account.admin })).status, 200);
  console.log(JSON.stringify({ garbage: Object.fromEntries(statuses), postgres: process.env['TEST_POSTGRES'] }));
});

function encode(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return encodeURIComponent((text ?? '').toWellFormed()).replaceAll('.', '%2E');
}
