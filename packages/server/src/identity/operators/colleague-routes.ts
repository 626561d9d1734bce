import Type from 'typebox';
import type { App } from '../../platform/http/http.ts';
import { cutPage, nextPage, pageQuery, pageWindow } from '../../platform/http/paging.ts';
import { list, mediumList, name, output, uuid } from '../../platform/schema.ts';
import { accountOf, operatorOf } from '../access.ts';
import { requestedSites } from '../requested-sites.ts';
import { listColleagues } from './store.ts';

/** What operators may see of each other, to choose whom to transfer a visitor to. No e-mail address, role or presence reason. */
const colleagueOutput = output('Colleague', {
  id: uuid<'operator'>(),
  name,
  available: Type.Boolean({ description: 'Whether the operator accepts engagements now' }),
  media: mediumList,
  site_ids: Type.Array(uuid<'site'>(), { description: 'The requested sites that the operator is assigned to' }),
  teams: Type.Array(Type.Object({ id: uuid<'team'>(), site_id: uuid<'site'>(), name })),
});

export function colleagueRoutes(app: App): void {
  app.get(
    '/colleagues',
    {
      config: { access: { operator: 'operator', site: 'anywhere' } },
      schema: {
        tags: ['Operators'],
        summary: "List the operators of the caller's sites, by name, with what colleagues may see",
        description:
          'For choosing whom to transfer to. It has no e-mail addresses and no roles, so every operator may read it.',
        querystring: Type.Object({
          site_ids: Type.Optional(list(uuid<'site'>())),
          include_offline: Type.Boolean({ default: false, description: 'Include operators who are not available now' }),
          ...pageQuery,
        }),
        response: { 200: Type.Object({ colleagues: Type.Array(colleagueOutput), next_page: nextPage }) },
      },
    },
    async (request) => {
      const { query } = request;
      const rows = await listColleagues(request.sql, {
        accountId: accountOf(request),
        siteIds: requestedSites(operatorOf(request), query.site_ids, 'operator'),
        includeOffline: query.include_offline,
        ...pageWindow(query),
      });
      const { rows: colleagues, next_page } = cutPage(request, query, rows);
      return { colleagues, next_page };
    },
  );
}
