import type { FastifyRequest } from 'fastify';
import Type from 'typebox';
import { Refusal } from './errors.ts';
import { nullable } from './schema.ts';

const mostPerPage = 1_000;

/** Query parameters of a list. */
export const pageQuery = {
  page: Type.Integer({ minimum: 1, maximum: 1_000_000, default: 1 }),
  per_page: Type.Integer({ minimum: 1, maximum: mostPerPage, default: 30 }),
};

/** The same for lists that are given whole unless asked otherwise. */
export const optionalPageQuery = {
  page: Type.Integer({ minimum: 1, maximum: 1_000_000, default: 1 }),
  per_page: Type.Optional(Type.Integer({ minimum: 1, maximum: mostPerPage })),
};

export const nextPage = nullable(Type.String({ description: 'Address of the next page, null on the last' }));

interface Page {
  readonly page: number;
  /** Left out: everything on one page. */
  readonly per_page?: number;
}

/** One row more than a page holds is asked for: whether it comes tells whether there is a next page. */
export function pageWindow({ page, per_page }: Page): { limit: number | null; offset: number } {
  if (per_page !== undefined) return { limit: per_page + 1, offset: (page - 1) * per_page };
  // Everything is on the first page, and nothing behind it.
  return { limit: page === 1 ? null : 0, offset: 0 };
}

export function cutPage<Row>(request: FastifyRequest, { page, per_page }: Page, rows: readonly Row[]) {
  const more = per_page !== undefined && rows.length > per_page;
  return { rows: rows.slice(0, per_page), next_page: more ? pageAddress(request, page + 1) : null };
}

const hostShape = /^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/i;

/** On the host the caller spoke to, with everything else it asked for. */
function pageAddress(request: FastifyRequest, page: number): string {
  if (!hostShape.test(request.host)) throw new Refusal('malformed_request', 'The Host header is not a host name.');
  const [path = '/', query = ''] = request.url.split('?', 2);
  const parameters = new URLSearchParams(query);
  parameters.set('page', String(page));
  return `${request.protocol}://${request.host}${path}?${parameters.toString()}`;
}
