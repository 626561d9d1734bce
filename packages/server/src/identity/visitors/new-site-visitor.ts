import type { FastifyReply, FastifyRequest } from 'fastify';
import Type from 'typebox';
import { invalid, type Violation } from '../../platform/errors.ts';
import { newId, type SiteId, type VisitorId } from '../../platform/ids.ts';
import { operatorOf } from '../access.ts';
import { isByMadeUpOperator, recordChange, type Audited } from '../audit/audit.ts';
import type { Tokens } from '../tokens.ts';
import { refuseForeignTeams } from './foreign-teams.ts';
import type { NewVisitor } from './store.ts';
import { visitorFields, visitorInput, visitorOutput } from './visitor.ts';

/**
 * D5.7: a program with an operator's token, which brings visitors from elsewhere, may create the visitor together with their ticket or
 * engagement request. The turn inserts the visitor with the ticket or request, so a refused one leaves no visitor behind.
 */
export const newSiteVisitor = Type.Object(visitorInput.properties, {
  title: 'NewSiteVisitor',
  additionalProperties: false,
  description: "With an operator's token: the visitor to create, with the fields of POST /visitors",
});

type NewSiteVisitor = Type.Static<typeof newSiteVisitor>;

/** The headers with which the program acts for the visitor that it created. Existing programs send them as they are. */
export const visitorAuthentication = Type.Object(
  { Authorization: Type.String({ description: 'The token of the new visitor, valid for 24 hours, as a header' }) },
  {
    title: 'VisitorAuthentication',
    description: 'Only with new_site_visitor: the headers of requests of the new visitor',
  },
);

/** The turn commits before the entry of the new visitor is written. */
export const auditOfNewVisitor = {
  action: 'visitor.create',
  of: visitorOutput,
  ...visitorFields.audit,
  unless: isByMadeUpOperator,
  byTurn: true,
} satisfies Audited;

/** For `preValidation`: the site may be named by the new visitor alone. */
export function siteOfNewVisitor({ body }: FastifyRequest, _reply: FastifyReply, done: () => void): void {
  const given = body as { site_id?: unknown; new_site_visitor?: { site_id?: unknown } | null } | null | undefined;
  const site = given?.new_site_visitor?.site_id;
  if (typeof given === 'object' && given !== null && given.site_id === undefined && site !== undefined)
    given.site_id = site;
  done();
}

/** What contradicts the new visitor. The input has not been validated. */
export function newVisitorViolations(input: unknown): Violation[] {
  const {
    site_id: site,
    visitor_id,
    new_site_visitor: visitor,
  }: Readonly<Record<string, unknown>> = { ...Object(input) };
  if (typeof visitor !== 'object' || visitor === null) return [];
  const { site_id: own } = visitor as { site_id?: unknown };
  const isOther = typeof own === 'string' && typeof site === 'string' && own.toLowerCase() !== site.toLowerCase();
  return [
    ...(isOther ? [{ attribute: '/new_site_visitor/site_id', detail: 'must be the site_id of the request' }] : []),
    ...(visitor_id === undefined
      ? []
      : [{ attribute: '/visitor_id', detail: 'cannot be combined with new_site_visitor' }]),
  ];
}

/** The visitor to create; `null` if the request names none. */
export async function newVisitorOf(
  request: FastifyRequest,
  siteId: SiteId,
  given: NewSiteVisitor | undefined,
): Promise<NewVisitor | null> {
  if (given === undefined) return null;
  if (request.caller.kind !== 'operator')
    throw invalid([{ attribute: '/new_site_visitor', detail: 'is allowed only with the token of an operator' }]);
  const { name = null, team_ids: teamIds = [] } = given;
  await refuseForeignTeams(request.sql, siteId, teamIds, '/new_site_visitor');
  return { id: newId<VisitorId>(), accountId: operatorOf(request).accountId, siteId, name, teamIds };
}

/** What the answer says about the new visitor. Writes the audit entry, too. */
export async function answerNewVisitor(
  request: FastifyRequest,
  tokens: Tokens,
  { accountId, siteId, name, teamIds }: NewVisitor,
  /** That of a repeated request is the visitor of the first one. */
  id: VisitorId,
): Promise<{ visitor_authentication: Type.Static<typeof visitorAuthentication> }> {
  recordChange(request, { after: { id, site_id: siteId, name, team_ids: teamIds } });
  const token = await tokens.signVisitor({ accountId, visitorId: id, trust: 'secret' });
  return { visitor_authentication: { Authorization: `Bearer ${token}` } };
}
