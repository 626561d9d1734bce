import type { App } from './http.ts';
import { docsPage, docsStyle } from './docs-page.ts';
import { pageHeaders } from './security-headers.ts';
import type { ApiDocument } from './openapi.ts';

const access = { public: true } as const;
const page = pageHeaders({ styleSrc: ["'self'"], baseUri: ["'none'"], formAction: ["'none'"] });

/** Serves `/openapi.json` and the reference page `/docs`. Both are rendered once, at the first request. */
export function docsRoutes(app: App, describe: () => ApiDocument): void {
  const { pathPrefix } = app;
  let document: { json: string; html: string } | null = null;
  const render = (): { json: string; html: string } => {
    if (document !== null) return document;
    const api = pathPrefix === '' ? describe() : { ...describe(), servers: [{ url: pathPrefix }] };
    document = { json: `${JSON.stringify(api, null, 2)}\n`, html: docsPage(api, pathPrefix) };
    return document;
  };

  app.get('/openapi.json', { config: { access }, schema: { hide: true } }, async (_request, reply) => {
    reply.type('application/json; charset=utf-8');
    return render().json;
  });
  app.get('/docs', { config: { access }, schema: { hide: true } }, async (_request, reply) => {
    reply.type('text/html; charset=utf-8').headers(page);
    return render().html;
  });
  app.get('/docs/style.css', { config: { access }, schema: { hide: true } }, async (_request, reply) => {
    reply.type('text/css; charset=utf-8');
    return docsStyle;
  });
}
