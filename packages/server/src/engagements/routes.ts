import { atLeast } from '@usher/contract/roles';
import { engagementStates } from '@usher/contract/states';
import type { FastifyRequest } from 'fastify';
import Type from 'typebox';
import { accountOf } from '../identity/access.ts';
import type { App } from '../platform/http/http.ts';
import {
  cursorQuery,
  cutAtCursor,
  cutAtToken,
  defaultPerPage,
  nextPage,
  pageToken,
  perPage,
  readCursor,
  type Cursor,
} from '../platform/http/paging.ts';
import { body, list, nullable, oneOf, uuid } from '../platform/schema.ts';
import { instantOf } from '../platform/instant.ts';
import type { Turns } from '../routing/turns.ts';
import { engagementOutput, type EngagementRow } from './engagement.ts';
import { partyOf } from '../identity/party.ts';
import { permitParticipant } from './permission.ts';
import { engagementEnded, permittedEngagement } from './permitted-engagement.ts';
import { listEngagements, type EngagementQuery } from './store.ts';

const tags = ['Engagements'];
const engagementParams = Type.Object({ engagement_id: uuid<'engagement'>() });
const date = Type.String({ format: 'date-time' });
const describedDate = (description: string) => Type.String({ format: 'date-time', description });

export function engagementRoutes(app: App, turns: Turns): void {
  app.get(
    '/engagements',
    {
      config: { access: { operator: 'operator', visitor: true, site: 'query.site_ids' } },
      schema: {
        tags,
        summary: 'List engagements of sites, newest first. Managers see all, others their own',
        description:
          'With visitor_ids, an operator also sees earlier engagements, on the same sites, of visitors they are engaged with now.',
        querystring: Type.Object({
          site_ids: list(uuid<'site'>(), { minItems: 1 }),
          operator_ids: Type.Optional(list(uuid<'operator'>())),
          visitor_ids: Type.Optional(list(uuid<'visitor'>())),
          start_date: Type.Optional(date),
          end_date: Type.Optional(date),
          state: Type.Optional(oneOf(engagementStates)),
          ...cursorQuery,
        }),
        response: { 200: Type.Object({ engagements: Type.Array(engagementOutput), next_page: nextPage }) },
      },
    },
    async (request) => {
      const { query } = request;
      const found = await visibleEngagements(request, {
        siteIds: query.site_ids,
        operatorIds: query.operator_ids ?? null,
        visitorIds: query.visitor_ids ?? null,
        from: instantIn(query.start_date, '/start_date'),
        to: instantIn(query.end_date, '/end_date'),
        state: query.state ?? null,
        after: readCursor(query.cursor),
        limit: query.per_page + 1,
      });
      const { rows, next_page } = cutAtCursor(request, query.per_page, found, cursorOf);
      return { engagements: rows, next_page };
    },
  );

  searchRoute(app);

  app.get(
    '/engagements/:engagement_id',
    {
      config: { access: { operator: 'operator', visitor: true, site: 'resource', rule: 'took part or manages' } },
      schema: {
        tags,
        summary: 'One engagement',
        description: 'Who takes part, since when, and by which medium; if it has ended, when and why.',
        params: engagementParams,
        response: { 200: engagementOutput },
      },
    },
    async (request) => permittedEngagement(request, request.params.engagement_id),
  );

  endRoute(app, turns);
}

/** The same list for existing clients, which send the query as a body. */
function searchRoute(app: App): void {
  app.post(
    '/engagements/search',
    {
      config: {
        access: { operator: 'operator', visitor: true, site: 'body.site_ids' },
        readOnly: true,
      },
      schema: {
        tags,
        summary: 'List engagements of sites, newest first. Managers see all, others their own',
        description: 'The same as GET /engagements, with the query in the body.',
        body: body({
          site_ids: list(uuid<'site'>(), { minItems: 1 }),
          from_start_time: Type.Optional(nullable(describedDate('Started at or after this'))),
          to_start_time: Type.Optional(nullable(describedDate('Started before this'))),
          per_page: Type.Optional(perPage),
          page_token: Type.Optional(nullable(pageToken)),
        }),
        response: {
          200: Type.Object({
            engagements: Type.Array(engagementOutput),
            next_page_token: Type.Unsafe<string | null>({
              ...nullable(Type.String()),
              description: 'Send it as page_token, with the same fields, to get the next page; null on the last page',
            }),
          }),
        },
      },
    },
    async (request) => {
      const { site_ids: siteIds, from_start_time: from, to_start_time: to, page_token: token, per_page } = request.body;
      const pageSize = per_page ?? defaultPerPage;
      const found = await visibleEngagements(request, {
        siteIds,
        operatorIds: null,
        visitorIds: null,
        from: instantIn(from, '/from_start_time'),
        to: instantIn(to, '/to_start_time'),
        state: null,
        after: readCursor(token ?? undefined, '/page_token'),
        limit: pageSize + 1,
      });
      const { page, next } = cutAtToken(pageSize, found, cursorOf);
      return { engagements: page, next_page_token: next };
    },
  );
}

const cursorOf = ({ started_at: at, id }: EngagementRow): Cursor => ({ at, id });

function instantIn(text: string | null | undefined, attribute: string): Date | null {
  return typeof text === 'string' ? instantOf(text, attribute) : null;
}

type Criteria = Omit<EngagementQuery, 'accountId' | 'managed' | 'self'>;

/** Engagements of the requested sites that the caller may see. Reads one row more than a page holds, to know if a next page exists. */
async function visibleEngagements(request: FastifyRequest, criteria: Criteria): Promise<EngagementRow[]> {
  const { caller } = request;
  const { kind, id } = partyOf(request.caller);
  return listEngagements(request.sql, {
    ...criteria,
    accountId: accountOf(request),
    managed: criteria.siteIds.filter(
      (site) => caller.kind === 'operator' && atLeast(caller.roles.get(site) ?? 'operator', 'manager'),
    ),
    self: {
      ...(kind === 'operator' ? { operatorId: id, visitorId: null } : { operatorId: null, visitorId: id }),
      reach: caller.kind === 'operator' ? [...caller.roles.keys()] : [],
    },
  });
}

function endRoute(app: App, turns: Turns): void {
  app.patch(
    '/engagements/:engagement_id',
    {
      config: {
        access: { operator: 'operator', visitor: true, site: 'resource', rule: 'takes part' },
        audit: 'own work',
        // The turn sends the hint.
        sendsOwnHint: true,
      },
      schema: {
        tags,
        summary: 'End an engagement, as a participant',
        params: engagementParams,
        body: body({
          action: oneOf(['end'] as const),
          reason: Type.Optional(
            Type.Unsafe<'error'>({ ...oneOf(['error']), description: "The caller's application failed to start it" }),
          ),
        }),
        response: { 200: Type.Object({ id: uuid<'engagement'>(), sub_engagement_id: uuid<'sub_engagement'>() }) },
      },
    },
    async (request) => {
      const { engagement_id: engagementId } = request.params;
      const error = request.body.reason === 'error';
      const ended = await turns.run(accountOf(request), {
        name: 'end',
        engagementId,
        by: partyOf(request.caller),
        error,
      });
      permitParticipant(request);
      if (ended !== null) return { id: ended.id, sub_engagement_id: ended.subEngagementId };
      throw engagementEnded(await permittedEngagement(request, engagementId));
    },
  );
}
