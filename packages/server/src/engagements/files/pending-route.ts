import Type from 'typebox';
import { accountOf } from '../../identity/access.ts';
import type { App } from '../../platform/http/http.ts';
import { cutPage, nextPage, pageQuery, pageWindow } from '../../platform/http/paging.ts';
import { list, oneOf, uuid } from '../../platform/schema.ts';
import { fileOutput } from './file.ts';
import { listPending } from './store.ts';

/** Lists the files to scan, for customers who scan manually or with their own program. */
export function pendingFilesRoute(app: App): void {
  app.get(
    '/files',
    {
      config: { access: { operator: 'super_manager', site: 'query.site_ids' } },
      schema: {
        tags: ['Files'],
        summary: 'List files of sites that wait for a scan, oldest first',
        description: 'For a scanner of your own: download each, then set the result. Needs USHER_SCANNER=manual.',
        querystring: Type.Object({
          site_ids: list(uuid<'site'>(), { minItems: 1 }),
          state: oneOf(['pending'] as const),
          ...pageQuery,
        }),
        response: { 200: Type.Object({ files: Type.Array(fileOutput), next_page: nextPage }) },
      },
    },
    async (request) => {
      const { site_ids: siteIds } = request.query;
      const window = pageWindow(request.query);
      const found = await listPending(request.sql, { accountId: accountOf(request), siteIds, ...window });
      const { rows, next_page } = cutPage(request, request.query, found);
      return { files: rows, next_page };
    },
  );
}
