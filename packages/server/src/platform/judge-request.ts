import type { FastifyReply, FastifyRequest, RouteOptions } from 'fastify';
import Type, { type TSchema } from 'typebox';
import type { App } from './http.ts';
import { refusalOfFaults, type Fault, type RequestPart } from './validation.ts';

declare module 'fastify' {
  interface FastifyInstance {
    /** Whether the site that the request concerns has `lenient_requests`. Set by whoever knows sites. */
    concernsLenientSite: (request: FastifyRequest) => Promise<boolean>;
  }
}

/**
 * Decides about requests that do not fit their schemas.
 *
 * A field or query parameter that the operation does not know is refused with 422, together with every other violation of the
 * body and the query. Two kinds of them are ignored instead. Fields of the operation's own answer, sent back in a POST: whoever
 * copies a resource sends what a read gave. And any field, where the request says `Prefer: handling=lenient` (RFC 7240) or the
 * site it concerns has `lenient_requests`; then `Preference-Applied` says so.
 *
 * A request that fits costs nothing here: Fastify keeps the failure of a validation for us (`attachValidation`).
 */
export function installJudgement(app: App): void {
  app.decorate('concernsLenientSite', async () => false);
  app.addHook('onRoute', (route) => {
    if (route.schema === undefined) return;
    route.attachValidation = true;
    if (!('hide' in route.schema)) refuseUnknownParameters(route);
  });
  app.addHook('preHandler', (request, reply, done) => {
    if (request.validationError === undefined) return done();
    judge(app, request, reply).then(() => done(), done);
  });
}

/** Unless the route's schema says otherwise, its query has the parameters it declares, and no others. */
function refuseUnknownParameters(route: RouteOptions): void {
  const { querystring = Type.Object({}) } = route.schema as { querystring?: TSchema };
  Object.assign(route.schema ?? {}, { querystring: { additionalProperties: false, ...querystring } });
}

/** Each time a field is taken away, what is behind it may be judged anew; no schema needs more rounds than this. */
const mostRounds = 3;

async function judge(app: App, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const own = isOwnOutput(request);
  let faults = faultsOf(request);
  if (faults.length === 0)
    throw new Error('a validation failed of which nothing is known', { cause: request.validationError });
  let isLenient: boolean | null = null;
  let isApplied = false;
  for (let round = 0; round < mostRounds && faults.some(({ part }) => part !== 'params'); round += 1) {
    const unknown = faults.filter(isUnknown);
    if (unknown.length === 0) break;
    const foreign = unknown.filter((fault) => !own(fault));
    if (foreign.length > 0) isLenient ??= await handlesLeniently(app, request);
    const ignored = isLenient === true ? unknown : unknown.filter(own);
    if (ignored.length === 0) break;
    for (const fault of ignored) takeAway(request, fault);
    isApplied ||= isLenient === true && foreign.length > 0;
    faults = faultsOf(request);
  }
  if (faults.length > 0) throw refusalOfFaults(faults);
  if (isApplied) reply.header('preference-applied', 'handling=lenient');
}

const parts = {
  params: 'params',
  body: 'body',
  querystring: 'query',
  headers: 'headers',
} as const satisfies Record<RequestPart, string>;

/** Every violation of every part: Fastify itself stops at the first part that has one. */
function faultsOf(request: FastifyRequest): Fault[] {
  return (Object.keys(parts) as RequestPart[]).flatMap((part) => {
    const validate = request.getValidationFunction(part);
    if (typeof validate !== 'function' || validate(request[parts[part]])) return [];
    return (validate.errors ?? []).map((error) => ({ part, error }));
  });
}

function isUnknown({ error }: Fault): boolean {
  return error.keyword === 'additionalProperties';
}

function takeAway(request: FastifyRequest, { part, error }: Fault): void {
  const holder = pathOf(error.instancePath).reduce(
    (value: unknown, key) => (value as Record<string, unknown> | undefined)?.[key],
    request[parts[part]],
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

/** Whether an unknown field is one of those that the answer to this POST has, at the same place. */
function isOwnOutput({ method, routeOptions }: FastifyRequest): (fault: Fault) => boolean {
  const answers = method === 'POST' ? answersOf(routeOptions.schema?.response) : [];
  return ({ part, error }) => {
    if (part !== 'body') return false;
    const path = [...pathOf(error.instancePath), String(error.params['additionalProperty'])];
    return answers.some((answer) => path.reduce<Described | undefined>(within, answer) !== undefined);
  };
}

/** As much of a schema as is followed. */
interface Described {
  readonly properties?: Readonly<Record<string, Described>>;
  readonly items?: Described;
}

function answersOf(response: unknown): Described[] {
  return Object.entries((response ?? {}) as Record<string, Described>)
    .filter(([status]) => status.startsWith('2'))
    .map(([, schema]) => schema);
}

function within(schema: Described | undefined, key: string): Described | undefined {
  if (schema?.items !== undefined && /^\d+$/.test(key)) return schema.items;
  return schema?.properties !== undefined && Object.hasOwn(schema.properties, key) ? schema.properties[key] : undefined;
}

async function handlesLeniently(app: App, request: FastifyRequest): Promise<boolean> {
  const preferred = preferredHandling(request.headers['prefer']);
  return preferred === null ? app.concernsLenientSite(request) : preferred === 'lenient';
}

/** RFC 7240: preferences are separated by commas and have parameters behind semicolons; the first of a name counts. */
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
