import type { FastifyReply, FastifyRequest, RouteOptions } from 'fastify';
import Type, { type TSchema } from 'typebox';
import type { App } from './http.ts';
import { refusalOfFaults, type Fault, type RequestPart } from './validation.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * Query parameters that existing programs send and that change only how a list is shown. They are ignored, because without them
     * the answer has the same items; an unknown filter is refused, because its sender would act on all items.
     */
    ignoredParameters?: readonly string[];
  }
  interface FastifyInstance {
    /** Whether the site of the request has `lenient_requests`. Set by `identity/lenient-requests.ts`. */
    concernsLenientSite: (request: FastifyRequest) => Promise<boolean>;
  }
}

/**
 * Decides about requests that fail schema validation.
 *
 * An unknown field or query parameter is refused with 422, together with every other violation of the body and the query. Three
 * kinds of unknown fields are ignored instead: fields of the operation's own response that are sent back in a POST, so that a
 * resource can be copied; the `ignoredParameters` of the route; and any field if the request says `Prefer: handling=lenient`
 * (RFC 7240) or its site has `lenient_requests`. In the last two cases the response has `Preference-Applied`.
 *
 * A valid request costs nothing here: Fastify passes on only failed validations (`attachValidation`).
 */
export function installRequestChecks(app: App): void {
  app.decorate('concernsLenientSite', async () => false);
  app.addHook('onRoute', (route) => {
    if (route.schema === undefined) return;
    route.attachValidation = true;
    if (!('hide' in route.schema)) refuseUnknownParameters(route);
  });
  app.addHook('preHandler', (request, reply, done) => {
    if (request.validationError === undefined) return done();
    checkRequest(app, request, reply).then(() => done(), done);
  });
}

/** A route accepts only the query parameters it declares, unless its schema says otherwise. */
function refuseUnknownParameters(route: RouteOptions): void {
  const { querystring = Type.Object({}) } = route.schema as { querystring?: TSchema };
  Object.assign(route.schema ?? {}, { querystring: { additionalProperties: false, ...querystring } });
}

/** Removing a field may reveal further violations, so validation is repeated. No schema needs more rounds than this. */
const maxRounds = 3;

async function checkRequest(app: App, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const own = isOwnOutput(request);
  const harmless = isHarmless(request);
  let faults = faultsOf(request);
  if (faults.length === 0)
    throw new Error('a validation failed without reporting an error', { cause: request.validationError });
  let isLenient: boolean | null = null;
  let isApplied = false;
  for (let round = 0; round < maxRounds && faults.some(({ part }) => part !== 'params'); round += 1) {
    const unknown = faults.filter(isUnknown);
    if (unknown.length === 0) break;
    const isForeign = (fault: Fault): boolean => !own(fault) && !harmless(fault);
    if (unknown.some(isForeign)) isLenient ??= await handlesLeniently(app, request);
    const ignored = isLenient === true ? unknown : unknown.filter((fault) => !isForeign(fault));
    if (ignored.length === 0) break;
    for (const fault of ignored) removeField(request, fault);
    isApplied ||= ignored.some((fault) => !own(fault));
    faults = faultsOf(request);
  }
  if (faults.length > 0) throw refusalOfFaults(faults);
  if (isApplied) reply.header('preference-applied', 'handling=lenient');
}

const requestProperties = {
  params: 'params',
  body: 'body',
  querystring: 'query',
  headers: 'headers',
} as const satisfies Record<RequestPart, string>;

/** All violations of all parts. Fastify itself stops at the first part with a violation. */
function faultsOf(request: FastifyRequest): Fault[] {
  return (Object.keys(requestProperties) as RequestPart[]).flatMap((part) => {
    const validate = request.getValidationFunction(part);
    if (typeof validate !== 'function' || validate(request[requestProperties[part]])) return [];
    return (validate.errors ?? []).map((error) => ({ part, error }));
  });
}

function isUnknown({ error }: Fault): boolean {
  return error.keyword === 'additionalProperties';
}

function removeField(request: FastifyRequest, { part, error }: Fault): void {
  const holder = pathOf(error.instancePath).reduce(
    (value: unknown, key) => (value as Record<string, unknown> | undefined)?.[key],
    request[requestProperties[part]],
  );
  if (typeof holder === 'object' && holder !== null)
    Reflect.deleteProperty(holder, String(error.params['additionalProperty']));
}

function pathOf(pointer: string): string[] {
  if (pointer === '') return [];
  return pointer
    .slice(1)
    .split('/')
    .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** Whether an unknown field exists at the same path in the response to this POST. */
function isOwnOutput({ method, routeOptions }: FastifyRequest): (fault: Fault) => boolean {
  const answers = method === 'POST' ? answersOf(routeOptions.schema?.response) : [];
  return ({ part, error }) => {
    if (part !== 'body') return false;
    const path = [...pathOf(error.instancePath), String(error.params['additionalProperty'])];
    return answers.some((answer) => path.reduce<ObjectSchema | undefined>(within, answer) !== undefined);
  };
}

/** Whether the route ignores an unknown query parameter. A client that asks for strict handling wants to know about each. */
function isHarmless({ headers, routeOptions }: FastifyRequest): (fault: Fault) => boolean {
  const isStrict = preferredHandling(headers['prefer']) === 'strict';
  const ignored = isStrict ? [] : (routeOptions.config.ignoredParameters ?? []);
  return ({ part, error }) =>
    part === 'querystring' && error.instancePath === '' && ignored.includes(String(error.params['additionalProperty']));
}

/** The part of a JSON Schema that is read here. */
interface ObjectSchema {
  readonly properties?: Readonly<Record<string, ObjectSchema>>;
  readonly items?: ObjectSchema;
}

function answersOf(response: unknown): ObjectSchema[] {
  return Object.entries((response ?? {}) as Record<string, ObjectSchema>)
    .filter(([status]) => status.startsWith('2'))
    .map(([, schema]) => schema);
}

function within(schema: ObjectSchema | undefined, key: string): ObjectSchema | undefined {
  if (schema?.items !== undefined && /^\d+$/.test(key)) return schema.items;
  return schema?.properties !== undefined && Object.hasOwn(schema.properties, key) ? schema.properties[key] : undefined;
}

async function handlesLeniently(app: App, request: FastifyRequest): Promise<boolean> {
  const preferred = preferredHandling(request.headers['prefer']);
  return preferred === null ? app.concernsLenientSite(request) : preferred === 'lenient';
}

/** RFC 7240: commas separate preferences, semicolons separate their parameters; the first preference of a name counts. */
export function preferredHandling(header: string | string[] | undefined): 'lenient' | 'strict' | null {
  const preferences = [header ?? []].flat().join(',').split(',');
  for (const preference of preferences) {
    const [name = '', value = ''] = (preference.split(';', 1)[0] ?? '').split('=', 2).map((part) => part.trim());
    if (name.toLowerCase() !== 'handling') continue;
    const bare = value.replaceAll('"', '').toLowerCase();
    return bare === 'lenient' || bare === 'strict' ? bare : null;
  }
  return null;
}
