import { CompressedText } from '../http/compressed.ts';
import type { App } from '../http/http.ts';
import { docsPage, docsStyle } from './docs-page.ts';
import { pageHeaders } from '../http/security-headers.ts';
import { asyncDocument } from './openapi/async-document.ts';
import { apiDocument } from './openapi/document.ts';
import type { EventSchemas } from './openapi/model.ts';

const access = { public: true } as const;
const page = pageHeaders({
  scriptSrc: ["'self'"],
  styleSrc: ["'self'"],
  connectSrc: ["'self'"],
  baseUri: ["'none'"],
  formAction: ["'none'"],
});

type Rendered = Readonly<Record<'openapi' | 'asyncapi' | 'html', CompressedText>>;

/** Serves `/openapi.json`, `/asyncapi.json` and the reference page `/docs`. All are rendered once, at the first request. */
export function docsRoutes(app: App, eventSchemas: () => EventSchemas): void {
  const { pathPrefix } = app;
  let rendered: Rendered | null = null;
  const render = (): Rendered => {
    if (rendered !== null) return rendered;
    const schemas = eventSchemas();
    const api = apiDocument(app, schemas);
    rendered = {
      openapi: new CompressedText(print(api)),
      asyncapi: new CompressedText(print(asyncDocument(schemas))),
      html: new CompressedText(docsPage(api, pathPrefix)),
    };
    return rendered;
  };

  for (const name of ['openapi', 'asyncapi'] as const)
    app.get(`/${name}.json`, { config: { access }, schema: { hide: true } }, async (request, reply) => {
      reply.type('application/json; charset=utf-8');
      return render()[name].answer(request, reply);
    });
  app.get('/docs', { config: { access }, schema: { hide: true } }, async (request, reply) => {
    reply.type('text/html; charset=utf-8').headers(page);
    return render().html.answer(request, reply);
  });
  app.get('/docs/style.css', { config: { access }, schema: { hide: true } }, async (_request, reply) => {
    reply.type('text/css; charset=utf-8');
    return docsStyle;
  });
}

function print(document: unknown): string {
  return `${JSON.stringify(document, null, 2)}\n`;
}
