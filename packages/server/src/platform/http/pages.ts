import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import fastifyStatic from '@fastify/static';
import { Refusal } from '../errors.ts';
import type { App } from './http.ts';
import { pageHeaders } from './security-headers.ts';
import { packageFile } from '../package-files.ts';

const access = { public: true } as const;
const route = { config: { access }, schema: { hide: true } };

const built = (name: string): string => fileURLToPath(packageFile(`../${name}/dist`));

/** The page may load only what Usher itself serves. Styles added by scripts need the nonce of the response. */
const noncePlaceholder = 'NONCE';
const page = pageHeaders({
  scriptSrc: ["'self'"],
  styleSrc: ["'self'", `'nonce-${noncePlaceholder}'`],
  imgSrc: ["'self'", 'data:', 'blob:'],
  mediaSrc: ["'self'", 'blob:'],
  connectSrc: ["'self'"],
  baseUri: ["'none'"],
  formAction: ["'none'"],
});
const policy = 'content-security-policy';
const devices = 'camera=(self), microphone=(self), geolocation=(), display-capture=()';

/** For files with a content hash in their name, which never change. */
const immutable = 'public, max-age=31536000, immutable';
/** Pages check for a newer widget after five minutes. */
const widgetCache = 'public, max-age=300';

/** Serves the built `/console` with its assets, `/widget.js`, the script of `/docs`, and the demo page. */
export async function pageRoutes(app: App): Promise<void> {
  const consoleFolder = built('console');
  const widgetFolder = built('widget');
  const referenceFolder = built('reference');
  if (!existsSync(`${consoleFolder}/index.html`)) return refuseUnbuilt(app);
  const html = underPrefix(readFileSync(`${consoleFolder}/index.html`, 'utf8'), app.pathPrefix);

  const root = [consoleFolder, widgetFolder, referenceFolder];
  // The files are small, and a range beyond the end of one would need an error of its own.
  await app.register(fastifyStatic, { root, serve: false, preCompressed: true, acceptRanges: false });

  // Relative, so that it also works behind a proxy that adds a prefix.
  app.get('/', route, async (_request, reply) => reply.redirect('console/'));
  const consolePath = app.pathPrefix === '' ? '/console/' : 'console/';
  app.get('/console', route, async (_request, reply) => reply.redirect(consolePath));
  app.get('/console/assets/:name', route, async (request, reply) => {
    const { name } = request.params as { name: string };
    // A 404 must not be cached as immutable, so the file is checked first.
    if (!/^\w[\w.-]*$/.test(name) || !existsSync(`${consoleFolder}/assets/${name}`))
      throw new Refusal('not_found', 'This file does not exist. Reload the page: it may be of an older version.');
    reply.header('cache-control', immutable);
    return reply.sendFile(`assets/${name}`, consoleFolder, { cacheControl: false });
  });
  // The console routes every other path itself.
  app.get('/console/*', route, async (_request, reply) => {
    const nonce = randomBytes(16).toString('base64');
    const headers = { ...page, [policy]: (page[policy] ?? '').replace(noncePlaceholder, nonce) };
    reply.type('text/html; charset=utf-8').headers(headers).header('cache-control', 'no-cache');
    reply.header('permissions-policy', devices);
    return html.replaceAll('%NONCE%', nonce);
  });
  app.get('/widget.js', route, async (_request, reply) => {
    // Pages with Cross-Origin-Embedder-Policy load only resources with this header.
    reply.headers({ 'cache-control': widgetCache, 'cross-origin-resource-policy': 'cross-origin' });
    return reply.sendFile('widget.js', widgetFolder, { cacheControl: false });
  });
  app.get('/docs/script.js', route, async (_request, reply) => {
    reply.header('cache-control', 'no-cache');
    return reply.sendFile('script.js', referenceFolder, { cacheControl: false });
  });
  demoRoutes(app, widgetFolder);
}

/** Scripts of the console read the prefix from the attribute. */
function underPrefix(html: string, pathPrefix: string): string {
  if (pathPrefix === '') return html;
  return html
    .replaceAll('"/console/', `"${pathPrefix}/console/`)
    .replace('<html ', `<html data-path-prefix="${pathPrefix}" `);
}

/** The demo page has the strict policy that a careful site would use. */
const demoPage = pageHeaders({
  scriptSrc: ["'self'"],
  styleSrc: ["'self'"],
  imgSrc: ["'self'"],
  mediaSrc: ["'self'", 'blob:'],
  connectSrc: ["'self'"],
  baseUri: ["'none'"],
  formAction: ["'self'"],
});

function demoRoutes(app: App, widgetFolder: string): void {
  app.get('/demo', route, async (_request, reply) => {
    reply.headers(demoPage).headers({ 'cache-control': 'no-cache', 'permissions-policy': devices });
    return reply.sendFile('demo/index.html', widgetFolder, { cacheControl: false });
  });
  app.get('/demo/:name', route, async (request, reply) => {
    const { name } = request.params as { name: string };
    if (!/^[\w-]+\.(?:css|js|svg)$/.test(name) || !existsSync(`${widgetFolder}/demo/${name}`))
      throw new Refusal('not_found', 'This file does not exist.');
    reply.header('cache-control', 'no-cache');
    return reply.sendFile(`demo/${name}`, widgetFolder, { cacheControl: false });
  });
}

function refuseUnbuilt(app: App): void {
  for (const path of ['/console', '/console/*', '/widget.js', '/docs/script.js', '/demo'])
    app.get(path, route, async () => {
      throw new Refusal('not_found', 'The console is not built. Run `npm run build` and restart Usher.');
    });
}
