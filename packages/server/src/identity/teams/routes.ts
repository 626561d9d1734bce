import Type from 'typebox';
import type { FastifyRequest } from 'fastify';
import { violatedConstraint } from '../../platform/database.ts';
import { invalid, notFound, Refusal } from '../../platform/errors.ts';
import { etag, ifMatch, preconditionFailed } from '../../platform/etag.ts';
import type { App } from '../../platform/http.ts';
import { newId, type TeamId } from '../../platform/ids.ts';
import { cutPage, nextPage, pageQuery, pageWindow } from '../../platform/paging.ts';
import { list, uuid } from '../../platform/schema.ts';
import { accountOf, operatorOf, permit } from '../access.ts';
import { requestedSites } from '../requested-sites.ts';
import { deleteTeam, findTeam, insertTeam, listTeams, updateTeam } from './store.ts';
import { teamInput, teamOutput, teamUpdate, type TeamRow } from './team.ts';

const teamParams = Type.Object({ team_id: uuid<'team'>() });
const tags = ['Teams'];

export function teamRoutes(app: App): void {
  app.get(
    '/teams',
    {
      config: { access: { operator: 'manager', site: 'anywhere' } },
      schema: {
        tags,
        summary: 'Teams of the sites the caller manages',
        querystring: Type.Object({ site_ids: Type.Optional(list(uuid<'site'>())), ...pageQuery }),
        response: { 200: Type.Object({ teams: Type.Array(teamOutput), next_page: nextPage }) },
      },
    },
    async (request) => {
      const siteIds = requestedSites(operatorOf(request), request.query.site_ids, 'manager');
      const rows = await listTeams(request.sql, {
        accountId: accountOf(request),
        siteIds,
        ...pageWindow(request.query),
      });
      const { rows: teams, next_page } = cutPage(request, request.query, rows);
      return { teams, next_page };
    },
  );

  app.post(
    '/teams',
    {
      config: { access: { operator: 'super_manager', site: 'body.site_id' } },
      schema: { tags, summary: 'Create a team', body: teamInput, response: { 201: teamOutput } },
    },
    async (request, reply) => {
      const { site_id, name, description = null } = request.body;
      const team = await insertTeam(request.sql, {
        id: newId(),
        account_id: accountOf(request),
        site_id,
        name,
        description,
      });
      reply.code(201).headers({ location: `/teams/${team.id}`, etag: etag(team.version) });
      return team;
    },
  );

  app.get(
    '/teams/:team_id',
    {
      config: { access: { operator: 'manager', site: 'resource' } },
      schema: { tags, summary: 'One team', params: teamParams, response: { 200: teamOutput } },
    },
    async (request, reply) => {
      const team = await permittedTeam(request, request.params.team_id);
      reply.header('etag', etag(team.version));
      return team;
    },
  );

  app.patch(
    '/teams/:team_id',
    {
      config: { access: { operator: 'super_manager', site: 'resource' } },
      schema: { tags, summary: 'Change a team', params: teamParams, body: teamUpdate, response: { 200: teamOutput } },
    },
    async (request, reply) => {
      const team = await changeTeam(request, request.params.team_id, request.body);
      reply.header('etag', etag(team.version));
      return team;
    },
  );

  app.delete(
    '/teams/:team_id',
    {
      config: { access: { operator: 'super_manager', site: 'resource' } },
      schema: {
        tags,
        summary: 'Delete a team and every membership in it',
        params: teamParams,
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      await removeTeam(request, request.params.team_id);
      reply.code(204);
    },
  );
}

async function permittedTeam(request: FastifyRequest, id: TeamId): Promise<TeamRow> {
  const team = await findTeam(request.sql, accountOf(request), id);
  if (team === null) throw notFound('team', id);
  permit(request, team, 'team');
  return team;
}

async function changeTeam(
  request: FastifyRequest,
  id: TeamId,
  given: Type.Static<typeof teamUpdate>,
): Promise<TeamRow> {
  const team = await permittedTeam(request, id);
  const { site_id, name, description } = given;
  if (site_id !== undefined && site_id !== team.site_id) {
    throw invalid([{ attribute: '/site_id', detail: 'cannot be changed' }]);
  }
  const versions = ifMatch(request);
  if (versions !== null && !versions.includes(team.version)) throw preconditionFailed(team.version);
  const changes = { ...(name === undefined ? {} : { name }), ...(description === undefined ? {} : { description }) };
  if (Object.keys(changes).length === 0) return team;
  return (await updateTeam(request.sql, id, changes, versions)) ?? gone(request, id);
}

async function removeTeam(request: FastifyRequest, id: TeamId): Promise<void> {
  const team = await permittedTeam(request, id);
  const versions = ifMatch(request);
  if (versions !== null && !versions.includes(team.version)) throw preconditionFailed(team.version);
  try {
    if (!(await deleteTeam(request.sql, team.account_id, id, versions))) await gone(request, id);
  } catch (error) {
    // Foreign keys of other rooms' tables are RESTRICT: whatever still names the team is told by its constraint.
    if (violatedConstraint(error) === null) throw error;
    throw new Refusal('team_in_use', 'The team is part of a routing policy. Take it out of there first.');
  }
}

/** Another request changed or deleted the team between our reading and our writing. */
async function gone(request: FastifyRequest, id: TeamId): Promise<never> {
  const current = await findTeam(request.sql, accountOf(request), id);
  throw current === null ? notFound('team', id) : preconditionFailed(current.version);
}
