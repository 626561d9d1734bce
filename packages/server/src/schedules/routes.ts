import type { FastifyReply, FastifyRequest } from 'fastify';
import Type from 'typebox';
import { accountOf, permit } from '../identity/access.ts';
import { recordChange } from '../identity/audit/audit.ts';
import { lockAccount } from '../identity/lock-account.ts';
import { lockSite } from '../identity/sites/store.ts';
import { inTransaction, type Sql } from '../platform/database/database.ts';
import { invalid, notFound, Refusal } from '../platform/errors.ts';
import { etag, ifMatch, preconditionFailed } from '../platform/http/etag.ts';
import type { App } from '../platform/http/http.ts';
import { newId, type QueueId, type SchedulingPolicyId } from '../platform/ids.ts';
import { cutPage, nextPage, optionalPageQuery, pageWindow } from '../platform/http/paging.ts';
import { list, nullable, output, timestamp, uuid } from '../platform/schema.ts';
import { compileHours, intervals, type OpenInterval } from './hours.ts';
import { outlookOf } from './outlook.ts';
import { completePolicy, hoursDraft, policyInput, policyOutput, policyUpdate, type PolicyRow } from './policy.ts';
import {
  deletePolicy,
  findPolicy,
  insertPolicy,
  listPolicies,
  lockPolicy,
  queuesOfPolicy,
  updatePolicy,
} from './store.ts';

const tags = ['Queue scheduling policies'];
const policyParams = Type.Object({ scheduling_policy_id: uuid<'scheduling_policy'>() });
const maxPreviewMs = 366 * 86_400_000;
/** Without this limit, a policy with a thousand short intervals a week would make an answer of tens of megabytes. */
const maxIntervals = 10_000;

export function policyRoutes(app: App): void {
  app.get(
    '/queues/scheduling_policies',
    {
      config: { access: { operator: 'super_manager', site: 'query.site_ids' } },
      schema: {
        tags,
        summary: 'Scheduling policies of the sites',
        description:
          'Opening hours, by name, that queues of these sites can have. All come at once unless per_page is given.',
        querystring: Type.Object({ site_ids: list(uuid<'site'>(), { minItems: 1 }), ...optionalPageQuery }),
        response: { 200: Type.Object({ scheduling_policies: Type.Array(policyOutput), next_page: nextPage }) },
      },
    },
    async (request) => {
      const rows = await listPolicies(request.sql, request.query.site_ids, pageWindow(request.query));
      const { rows: policies, next_page } = cutPage(request, request.query, rows);
      return { scheduling_policies: policies, next_page };
    },
  );

  app.post(
    '/queues/scheduling_policies',
    {
      config: {
        access: { operator: 'super_manager', site: 'body.site_id' },
        changesCaches: true,
        audit: { action: 'scheduling_policy.create', of: policyOutput },
      },
      schema: {
        tags,
        summary: 'Create a scheduling policy',
        description: 'The site_id may be in the query instead of the body.',
        querystring: Type.Object({ site_id: Type.Optional(uuid<'site'>()) }),
        body: policyInput,
        response: { 201: policyOutput },
      },
      preValidation: siteFromQuery,
    },
    async (request, reply) => {
      const { site_id: siteId } = request.body;
      const policy = completePolicy(request.body, null);
      const values = { id: newId<SchedulingPolicyId>(), accountId: accountOf(request), siteId, policy };
      const row = await inTransaction(request.sql, async (sql) => {
        await lockSite(sql, siteId);
        return insertPolicy(sql, values);
      });
      reply.code(201).header('location', `/queues/scheduling_policies/${row.id}`);
      return tagged(reply, row);
    },
  );

  policyRoutesById(app);
  previewRoute(app);
  draftPreviewRoute(app);
}

function policyRoutesById(app: App): void {
  app.get(
    '/queues/scheduling_policies/:scheduling_policy_id',
    {
      config: { access: { operator: 'super_manager', site: 'resource' } },
      schema: {
        tags,
        summary: 'One scheduling policy',
        description: 'Its business hours, exceptions and time zone. The ETag is its version, for If-Match.',
        params: policyParams,
        response: { 200: policyOutput },
      },
    },
    async (request, reply) => tagged(reply, await permittedPolicy(request, request.params.scheduling_policy_id)),
  );

  app.put(
    '/queues/scheduling_policies/:scheduling_policy_id',
    {
      config: {
        access: { operator: 'super_manager', site: 'resource' },
        changesCaches: true,
        audit: { action: 'scheduling_policy.update', of: policyOutput },
      },
      schema: {
        tags,
        summary: 'Update a scheduling policy; optional fields that are left out keep their value',
        description: 'Queues with this policy open and close by the new hours at once.',
        params: policyParams,
        body: policyUpdate,
        response: { 200: policyOutput },
      },
    },
    async (request, reply) =>
      tagged(reply, await changePolicy(request, request.params.scheduling_policy_id, request.body)),
  );

  app.delete(
    '/queues/scheduling_policies/:scheduling_policy_id',
    {
      config: {
        access: { operator: 'super_manager', site: 'resource' },
        changesCaches: true,
        audit: { action: 'scheduling_policy.delete', of: policyOutput },
      },
      schema: {
        tags,
        summary: 'Delete a scheduling policy that no queue uses',
        description: 'While a queue uses it, the answer is 409 policy_in_use with the ids of the queues.',
        params: policyParams,
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      await removePolicy(request, request.params.scheduling_policy_id);
      reply.code(204);
    },
  );
}

function previewRoute(app: App): void {
  app.get(
    '/queues/scheduling_policies/:scheduling_policy_id/preview',
    {
      config: { access: { operator: 'super_manager', site: 'resource' } },
      schema: {
        tags,
        summary: 'Open intervals of a policy as instants, over at most 366 days',
        description: 'Daylight saving and exceptions are taken into account.',
        params: policyParams,
        querystring: Type.Object({
          from: Type.String({ format: 'date-time' }),
          to: Type.String({ format: 'date-time' }),
        }),
        response: {
          200: Type.Object({ intervals: Type.Array(Type.Object({ opens_at: timestamp, closes_at: timestamp })) }),
        },
      },
    },
    async (request) => {
      const policy = await permittedPolicy(request, request.params.scheduling_policy_id);
      const from = Date.parse(request.query.from);
      const to = Date.parse(request.query.to);
      // A leap second matches the format `date-time` but parses as NaN, for which every comparison is false.
      if (!(from <= to && to - from <= maxPreviewMs)) {
        throw invalid([{ attribute: '/to', detail: 'must be between from and 366 days after it' }]);
      }
      const open = intervals(compileHours(policy), from, to);
      if (open.length > maxIntervals) {
        throw invalid([
          { attribute: '/to', detail: `must be closer to from: there are more than ${maxIntervals} intervals` },
        ]);
      }
      return { intervals: open.map(shownInterval) };
    },
  );
}

function shownInterval({ opensAt, closesAt }: OpenInterval): { opens_at: Date; closes_at: Date } {
  return { opens_at: new Date(opensAt), closes_at: new Date(closesAt) };
}

const interval = Type.Object({ opens_at: timestamp, closes_at: timestamp });

const outlookOutput = output('HoursOutlook', {
  open: Type.Boolean({ description: 'Whether the policy would be open now' }),
  next_change_at: nullable(Type.Unsafe<Date>({ ...timestamp, description: 'When `open` next changes; null: never' })),
  days: Type.Array(
    Type.Object({
      date: Type.String({ description: 'YYYY-MM-DD, in the time zone' }),
      starts_at: timestamp,
      ends_at: timestamp,
    }),
    { description: 'Local days with their real length: 23, 24 or 25 hours' },
  ),
  intervals: Type.Array(interval),
  clock_changes: Type.Array(
    Type.Object({
      at: timestamp,
      offset_before_sec: Type.Integer(),
      offset_after_sec: Type.Integer({ description: 'Seconds ahead of UTC' }),
    }),
    { description: 'Within these days' },
  ),
  next_clock_change_at: nullable(
    Type.Unsafe<Date>({ ...timestamp, description: 'The first clock change after the start; null: none is known' }),
  ),
});

function draftPreviewRoute(app: App): void {
  app.post(
    '/queues/scheduling_policies/preview',
    {
      config: { access: { operator: 'super_manager', site: 'body.site_id' }, readOnly: true },
      schema: {
        tags,
        summary: 'Preview hours day by day, including daylight saving, without storing them',
        description: 'For a form: it shows what the given hours mean before they are saved.',
        body: hoursDraft,
        response: { 200: outlookOutput },
      },
    },
    async ({ body: { from, days, ...given } }) => {
      const now = Date.now();
      const start = from === undefined ? now : Date.parse(from);
      // A leap second matches the format `date-time` but is not a valid instant.
      if (Number.isNaN(start)) throw invalid([{ attribute: '/from', detail: 'must be a valid instant' }]);
      const outlook = outlookOf({ ...given, exceptions: given.exceptions ?? [] }, { now, start, days });
      if (outlook.intervals.length > maxIntervals) {
        const detail = `must be fewer: these days have more than ${maxIntervals} intervals`;
        throw invalid([{ attribute: '/business_hours', detail }]);
      }
      return {
        open: outlook.open,
        next_change_at: outlook.nextChangeAt === null ? null : new Date(outlook.nextChangeAt),
        days: outlook.days.map(({ date, startsAt, endsAt }) => ({
          date,
          starts_at: new Date(startsAt),
          ends_at: new Date(endsAt),
        })),
        intervals: outlook.intervals.map(shownInterval),
        clock_changes: outlook.clockChanges.map(({ at, offsetBeforeSec, offsetAfterSec }) => ({
          at: new Date(at),
          offset_before_sec: offsetBeforeSec,
          offset_after_sec: offsetAfterSec,
        })),
        next_clock_change_at: outlook.nextClockChangeAt === null ? null : new Date(outlook.nextClockChangeAt),
      };
    },
  );
}

async function permittedPolicy(request: FastifyRequest, id: SchedulingPolicyId): Promise<PolicyRow> {
  const policy = await findPolicy(request.sql, accountOf(request), id);
  if (policy === null) throw notFound('scheduling policy', id);
  permit(request, policy, 'scheduling policy');
  return policy;
}

async function changePolicy(
  request: FastifyRequest,
  id: SchedulingPolicyId,
  given: Type.Static<typeof policyUpdate>,
): Promise<PolicyRow> {
  return inTransaction(request.sql, async (sql) => {
    const current = await lockedPolicy(request, sql, id);
    if (given.site_id !== undefined && given.site_id !== current.site_id) {
      throw invalid([{ attribute: '/site_id', detail: 'cannot be changed' }]);
    }
    return updatePolicy(sql, id, completePolicy(given, current));
  });
}

async function removePolicy(request: FastifyRequest, id: SchedulingPolicyId): Promise<void> {
  await inTransaction(request.sql, async (sql) => {
    await lockedPolicy(request, sql, id);
    const queues = await queuesOfPolicy(sql, id);
    if (queues.length > 0) throw policyInUse(queues);
    await deletePolicy(sql, id);
  });
}

/** Locks a policy for a change. The account's lock keeps queues from referring to it meanwhile. */
async function lockedPolicy(request: FastifyRequest, sql: Sql, id: SchedulingPolicyId): Promise<PolicyRow> {
  await lockAccount(sql, accountOf(request));
  const current = await lockPolicy(sql, accountOf(request), id);
  if (current === null) throw notFound('scheduling policy', id);
  permit(request, current, 'scheduling policy');
  const versions = ifMatch(request);
  if (versions !== null && !versions.includes(current.version)) throw preconditionFailed(current.version);
  recordChange(request, { before: current });
  return current;
}

/** Copies `site_id` from the query into the body; if both have one, the two must be equal. */
function siteFromQuery(request: FastifyRequest, _reply: FastifyReply, done: (error?: Error) => void): void {
  const { site_id: inQuery } = request.query as { site_id?: unknown };
  const { body } = request;
  // A value that is not a text is refused by the schema of the query.
  if (typeof inQuery !== 'string' || typeof body !== 'object' || body === null) return done();
  const { site_id: inBody = inQuery } = body as { site_id?: unknown };
  if (typeof inBody === 'string' && inBody.toLowerCase() !== inQuery.toLowerCase())
    return done(invalid([{ attribute: '/site_id', detail: 'differs between query and body' }]));
  Object.assign(body, { site_id: inBody });
  done();
}

function policyInUse(queues: readonly QueueId[]): Refusal {
  const detail = `The policy is used by the queues ${queues.join(', ')}. Remove it from these queues first.`;
  return new Refusal('policy_in_use', detail, {
    details: queues.map((queue) => ({ attribute: '/scheduling_policy_id', detail: `is used by queue ${queue}` })),
  });
}

function tagged(reply: FastifyReply, policy: PolicyRow): PolicyRow {
  reply.header('etag', etag(policy.version));
  return policy;
}
