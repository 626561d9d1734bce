import { errors, type ErrorCode } from '../../errors.ts';
import type { ApiOperation, ApiParameter, ApiResponse } from './model.ts';
import { errorCodesOf } from './error-codes.ts';
import type { Example } from '../api-examples.ts';
import { namesOf, pascalCase } from './operation-names.ts';
import { parameterDescriptions } from './parameter-descriptions.ts';

export interface DescribedOperation {
  readonly method: string;
  readonly path: string;
  readonly operation: ApiOperation;
  readonly example: Example | undefined;
}

const problemType = 'application/problem+json';
const problem = { $ref: '#/components/schemas/Problem' };
const text = { type: 'string' };

/** The responses that several operations have, by name. */
export type SharedResponses = Record<string, ApiResponse>;

/** Adds to an operation what the routes do not say themselves: names, headers, errors and examples. */
export function completeOperation(described: DescribedOperation, shared: SharedResponses): ApiOperation {
  const { method, path, operation, example } = described;
  const operationId = namesOf(method, path)?.operationId;
  if (operationId === undefined)
    throw new Error(`${method} ${path} has no name; add it to platform/reference/openapi/operation-names.ts`);
  const parameters = [
    ...(operation.parameters ?? []).map(withoutRequiredDefault).map(describeParameter).map(asSent),
    ...headerParameters(described),
  ];
  const { requestBody } = operation;
  return {
    operationId,
    ...operation,
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(requestBody === undefined
      ? {}
      : {
          requestBody: {
            ...requestBody,
            content: namedContent(
              withoutRequiredDefaults(requestBody.content) as typeof requestBody.content,
              `${pascalCase(operationId)}Request`,
              example?.request,
            ),
          },
        }),
    responses: { ...successResponses(described, operationId), ...errorResponses(described, operationId, shared) },
  };
}

/** A parameter with a default may be left out. */
function withoutRequiredDefault(parameter: ApiParameter): ApiParameter {
  const { schema, required, ...rest } = parameter;
  const hasDefault = typeof schema === 'object' && schema !== null && 'default' in schema;
  return { ...rest, ...(hasDefault || required === undefined ? {} : { required }), schema };
}

/** A description for a parameter whose route says nothing special about it. */
function describeParameter(parameter: ApiParameter): ApiParameter {
  const { in: place, name, description = parameterDescriptions[name], ...rest } = parameter;
  return { in: place, name, ...(description === undefined ? {} : { description }), ...rest };
}

/** A list in a query has the name with which clients send it, `site_ids[]`, so that generated clients send it too. */
function asSent(parameter: ApiParameter): ApiParameter {
  const { type } = parameter.schema as { readonly type?: unknown };
  return parameter.in === 'query' && type === 'array' ? { ...parameter, name: `${parameter.name}[]` } : parameter;
}

/** The same for fields of a body, at any depth. */
function withoutRequiredDefaults(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(withoutRequiredDefaults);
  if (typeof node !== 'object' || node === null) return node;
  const copy: Record<string, unknown> = Object.fromEntries(
    Object.entries(node).map(([name, value]) => [name, withoutRequiredDefaults(value)]),
  );
  const { required, properties } = copy as { required?: unknown; properties?: Record<string, object> };
  if (!Array.isArray(required) || properties === undefined) return copy;
  const needed = required.filter((name: string) => !('default' in (properties[name] ?? {})));
  return { ...copy, required: needed };
}

function headerParameters({ method, operation, path }: DescribedOperation): ApiParameter[] {
  const header = (name: string, description: string): ApiParameter => ({
    in: 'header',
    name,
    description,
    schema: text,
  });
  const isKeyed = method === 'POST' && operation.security?.length !== 0;
  const hasBody = operation.requestBody !== undefined;
  return [
    ...(isKeyed
      ? [header('Idempotency-Key', 'The same key and request get the first answer again, for 24 hours')]
      : []),
    ...(errorCodesOf(method, path, operation).includes('precondition_failed')
      ? [header('If-Match', 'The ETag of the version to change; another version is refused with 412')]
      : []),
    ...(hasBody ? [header('Prefer', '`handling=lenient`: unknown fields are ignored')] : []),
  ];
}

function namedContent<Content extends NonNullable<ApiResponse['content']>>(
  content: Content,
  name: string,
  example: unknown,
): Content {
  return Object.fromEntries(
    Object.entries(content).map(([type, { schema }]) => [
      type,
      type === 'application/json'
        ? { schema: named(schema, name), ...(example === undefined ? {} : { example }) }
        : { schema },
    ]),
  ) as Content;
}

function named(schema: unknown, name: string): unknown {
  const given = schema as { readonly title?: string; readonly $ref?: string };
  return given.title === undefined && given.$ref === undefined ? { title: name, ...given } : schema;
}

const headerDescriptions: Readonly<Record<string, string>> = {
  etag: 'The version of the resource, for If-Match',
  location: 'The URL of the new resource',
};
const headerNames: Readonly<Record<string, string>> = { etag: 'ETag', location: 'Location' };

/** @fastify/swagger calls every response "Default Response". What it contains is said by the operation and by its schema. */
const successDescriptions: Readonly<Record<string, string>> = {
  200: 'The request succeeded',
  201: 'The resource was created',
  202: 'The request was accepted and is carried out in the background',
  204: 'The request succeeded; there is no body',
};

function successResponses(
  { operation, example }: DescribedOperation,
  operationId: string,
): Record<string, ApiResponse> {
  const successes = Object.entries(operation.responses).filter(([status]) => status.startsWith('2'));
  return Object.fromEntries(
    successes.map(([status, response]) => {
      const isRecorded = Number(status) === example?.status;
      const headers = (isRecorded ? example.headers : []).map((name) => [
        headerNames[name] ?? name,
        { description: headerDescriptions[name] ?? '', schema: text },
      ]);
      const content =
        response.content && successContent(response.content, operationId, isRecorded ? example : undefined);
      return [
        status,
        {
          ...response,
          description: successDescriptions[status] ?? 'Success',
          ...(headers.length === 0 ? {} : { headers: Object.fromEntries(headers) }),
          ...(content === undefined ? {} : { content }),
        },
      ];
    }),
  );
}

function successContent(
  content: NonNullable<ApiResponse['content']>,
  operationId: string,
  example: Example | undefined,
): ApiResponse['content'] {
  if (operationId === 'openFeed') return { 'text/event-stream': { schema: { $ref: '#/components/schemas/FeedItem' } } };
  return namedContent(content, `${pascalCase(operationId)}Response`, example?.response);
}

const retryAfter = { 'Retry-After': { description: 'Seconds to wait before the next attempt', schema: text } };

/** A response is named after its codes, or after its operation if they are many. */
const maxCodesInName = 3;

/** One response for each status, with the codes that `error` can have. */
function errorResponses(
  { method, path, operation }: DescribedOperation,
  operationId: string,
  shared: SharedResponses,
): Record<string, ApiResponse> {
  const byStatus = Map.groupBy(errorCodesOf(method, path, operation), (code) => errors[code].status);
  const statuses = [...byStatus].toSorted(([one], [other]) => one - other);
  return Object.fromEntries(
    statuses.map(([status, codes]) => {
      const name =
        codes.length > maxCodesInName ? `${pascalCase(operationId)}${status}` : codes.map(pascalCase).join('Or');
      shared[name] ??= errorResponse(status, codes);
      return [String(status), { $ref: `#/components/responses/${name}` }];
    }),
  );
}

function errorResponse(status: number, codes: readonly ErrorCode[]): ApiResponse {
  return {
    description: codes.map((code) => `\`${code}\`: ${errors[code].title}`).join('; '),
    ...(status === 429 || status === 503 ? { headers: retryAfter } : {}),
    content: {
      [problemType]: { schema: { allOf: [problem, { properties: { error: { type: 'string', enum: codes } } }] } },
    },
  };
}
