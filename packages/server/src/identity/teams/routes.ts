import Type from 'typebox';
import type { FastifyRequest } from 'fastify';
import { inTransaction, violatedConstraint, type Sql } from '../../platform/database/database.ts';
import { invalid, notFound, Refusal } from '../../platform/errors.ts';
import { etag, ifMatch, preconditionFailed } from '../../platform/http/etag.ts';
import type { App } from '../../platform/http/http.ts';
import { newId, type TeamId } from '../../platform/ids.ts';
import { cutPage, nextPage, pageQuery, pageWindow } from '../../platform/http/paging.ts';
import { list, uuid } from '../../platform/schema.ts';
import { accountOf, operatorOf, permit } from '../access.ts';
import { recordChange } from '../audit/audit.ts';
import { lockAccount } from '../lock-account.ts';
import { requestedSites } from '../requested-sites.ts';
import { lockSite } from '../sites/store.ts';
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
        summary: 'List the teams of the sites that the caller manages',
        description: 'In the order of creation, over all of these sites or only those in site_ids.',
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
      config: {
        access: { operator: 'super_manager', site: 'body.site_id' },
        audit: { action: 'team.create', of: teamOutput },
      },
      schema: {
        tags,
        summary: 'Create a team',
        description:
          'A team belongs to one site. Operators join it through their assignments, visitors through their team_ids.',
        body: teamInput,
        response: { 201: teamOutput },
      },
    },
    async (request, reply) => {
      const { site_id, name, description = null } = request.body;
      const values = { id: newId<TeamId>(), account_id: accountOf(request), site_id, name, description };
      const team = await inTransaction(request.sql, async (sql) => {
        await lockSite(sql, site_id);
        return insertTeam(sql, values);
      });
      reply.code(201).headers({ location: `/teams/${team.id}`, etag: etag(team.version) });
      return team;
    },
  );

  teamRoutesById(app);
}

function teamRoutesById(app: App): void {
  app.get(
    '/teams/:team_id',
    {
      config: { access: { operator: 'manager', site: 'resource' } },
      schema: {
        tags,
        summary: 'Get a team',
        description:
          'The name, the description and the site of the team. Its members are listed by GET /operators with team_ids.',
        params: teamParams,
        response: { 200: teamOutput },
      },
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
      config: {
        access: { operator: 'super_manager', site: 'resource' },
        audit: { action: 'team.update', of: teamOutput },
      },
      schema: {
        tags,
        summary: 'Change a team',
        description: 'The name and the description. A team cannot move to another site.',
        params: teamParams,
        body: teamUpdate,
        response: { 200: teamOutput },
      },
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
      config: {
        access: { operator: 'super_manager', site: 'resource' },
        audit: { action: 'team.delete', of: teamOutput },
      },
      schema: {
        tags,
        summary: 'Delete a team and every membership in it',
        description:
          'Operators and visitors leave the team. A team that the routing policy of a queue names cannot be deleted (409).',
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

async function permittedTeam(request: FastifyRequest, id: TeamId, sql: Sql = request.sql): Promise<TeamRow> {
  const team = await findTeam(sql, accountOf(request), id);
  if (team === null) throw notFound('team', id);
  permit(request, team, 'team');
  return team;
}

/** The team to change. The account's lock keeps it unchanged until the transaction ends. */
async function lockedTeam(request: FastifyRequest, sql: Sql, id: TeamId): Promise<TeamRow> {
  await lockAccount(sql, accountOf(request));
  const team = await permittedTeam(request, id, sql);
  const versions = ifMatch(request);
  if (versions !== null && !versions.includes(team.version)) throw preconditionFailed(team.version);
  recordChange(request, { before: team });
  return team;
}

async function changeTeam(
  request: FastifyRequest,
  id: TeamId,
  { site_id, name, description }: Type.Static<typeof teamUpdate>,
): Promise<TeamRow> {
  return inTransaction(request.sql, async (sql) => {
    const team = await lockedTeam(request, sql, id);
    if (site_id !== undefined && site_id !== team.site_id)
      throw invalid([{ attribute: '/site_id', detail: 'cannot be changed' }]);
    const changes = { ...(name === undefined ? {} : { name }), ...(description === undefined ? {} : { description }) };
    return Object.keys(changes).length === 0 ? team : updateTeam(sql, id, changes);
  });
}

async function removeTeam(request: FastifyRequest, id: TeamId): Promise<void> {
  try {
    await inTransaction(request.sql, async (sql) => {
      await lockedTeam(request, sql, id);
      await deleteTeam(sql, id);
    });
  } catch (error) {
    // Tables of other rooms refer to teams with ON DELETE RESTRICT, so a team in use violates a constraint.
    if (violatedConstraint(error) === null) throw error;
    throw new Refusal('team_in_use', 'The team is part of a routing policy. Remove it from the policy first.');
  }
}
