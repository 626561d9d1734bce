import Type from 'typebox';
import type { App } from '../../platform/http.ts';
import { cutPage, nextPage, pageQuery, pageWindow } from '../../platform/paging.ts';
import { list, mediumList, name, output, uuid } from '../../platform/schema.ts';
import { accountOf, operatorOf } from '../access.ts';
import { requestedSites } from '../requested-sites.ts';
import { listColleagues } from './store.ts';

/** What those who work beside an operator may know of it: whom to hand a visitor on to. No address, no role, no reason. */
const colleagueOutput = output('Colleague', {
  id: uuid<'operator'>(),
  name,
  available: Type.Boolean({ description: 'Whether the operator takes engagements now' }),
  media: mediumList,
  site_ids: Type.Array(uuid<'site'>(), { description: 'Of the sites asked for, those it works on' }),
  teams: Type.Array(Type.Object({ id: uuid<'team'>(), site_id: uuid<'site'>(), name })),
});

export function colleagueRoutes(app: App): void {
  app.get(
    '/colleagues',
    {
      config: { access: { operator: 'operator', site: 'anywhere' } },
      schema: {
        tags: ['Operators'],
        summary: "Operators of the caller's sites, by name, as those who work there may see each other",
        querystring: Type.Object({
          site_ids: Type.Optional(list(uuid<'site'>())),
          include_offline: Type.Boolean({ default: false, description: 'Also those who are not available now' }),
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
