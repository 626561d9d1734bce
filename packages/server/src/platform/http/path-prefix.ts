import type { FastifyRequest } from 'fastify';
import type { App } from './http.ts';

declare module 'fastify' {
  interface FastifyInstance {
    /** The path under which a proxy serves Usher, such as `/usher`; empty if Usher has an origin of its own. */
    pathPrefix: string;
    /** The host of `USHER_PUBLIC_URL`; empty if it is not set. */
    publicHost: string;
  }
}

/**
 * The proxy removes the path of `USHER_PUBLIC_URL` from requests, so routes do not know it. Whatever a browser or client resolves
 * against the origin needs it: the paths of cookies, the URLs in pages, links, and the `Location` headers, which are completed here
 * for all routes.
 */
export function installPathPrefix(app: App, publicUrl: string): void {
  const url = publicUrl === '' ? null : new URL(publicUrl);
  const pathPrefix = url?.pathname.replace(/\/$/, '') ?? '';
  app.decorate('pathPrefix', pathPrefix);
  app.decorate('publicHost', url?.host ?? '');
  if (pathPrefix === '') return;
  app.addHook('onSend', (request, reply, payload, done) => {
    const location = reply.getHeader('location');
    if (typeof location === 'string' && location.startsWith('/'))
      reply.header('location', `${linkPrefixOf(request)}${location}`);
    done(null, payload);
  });
}

/** The prefix of links for this caller. Who uses another host than the public one has passed no proxy, and needs links without it. */
export function linkPrefixOf({ host, server: { pathPrefix, publicHost } }: FastifyRequest): string {
  return host.toLowerCase() === publicHost ? pathPrefix : '';
}
