import { maxPageSize } from '@usher/contract/limits';
import type { FastifyRequest } from 'fastify';
import Type from 'typebox';
import { invalid, Refusal } from '../errors.ts';
import { isUuid } from '../ids.ts';
import { latest } from '../instant.ts';
import { linkPrefixOf } from './path-prefix.ts';
import { nullable } from '../schema.ts';

/** Query parameters of a list. */
export const pageQuery = {
  page: Type.Integer({ minimum: 1, maximum: 1_000_000, default: 1 }),
  per_page: Type.Integer({ minimum: 1, maximum: maxPageSize, default: 30 }),
};

/** The same for lists that are complete unless `per_page` is set. */
export const optionalPageQuery = {
  page: Type.Integer({ minimum: 1, maximum: 1_000_000, default: 1 }),
  per_page: Type.Optional(Type.Integer({ minimum: 1, maximum: maxPageSize })),
};

export const lastPage = Type.String({ description: 'URL of the last page' });
export const nextPage = nullable(Type.String({ description: 'URL of the next page, null on the last page' }));

interface Page {
  readonly page: number;
  /** If left out, everything is on one page. */
  readonly per_page?: number;
}

/** Reads one row more than the page size: if it exists, there is a next page. */
export function pageWindow({ page, per_page }: Page): { limit: number | null; offset: number } {
  if (per_page !== undefined) return { limit: per_page + 1, offset: (page - 1) * per_page };
  // Everything is on the first page, and other pages are empty.
  return { limit: page === 1 ? null : 0, offset: 0 };
}

export function cutPage<Row>(request: FastifyRequest, { page, per_page }: Page, rows: readonly Row[]) {
  const more = per_page !== undefined && rows.length > per_page;
  return { rows: rows.slice(0, per_page), next_page: more ? pageAddress(request, { page: String(page + 1) }) : null };
}

/** For a list with `last_page`: `total` is called only if the page itself does not show it. */
export async function lastPageAddress(
  request: FastifyRequest,
  { page, per_page: perPage }: Required<Page>,
  { found, total }: { readonly found: number; readonly total: () => Promise<number> },
): Promise<string> {
  // `found` exceeds the page size if there is a next page, and is 0 after the last page.
  const isLast = found <= perPage && (found > 0 || page === 1);
  const last = isLast ? page : Math.max(1, Math.ceil((await total()) / perPage));
  return pageAddress(request, { page: String(last) });
}

const hostShape = /^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/i;

/** What is wrong with the headers that name the origin of the request; `null` if they are valid. */
function originFault({ host, protocol }: FastifyRequest): string | null {
  if (!hostShape.test(host)) return 'The Host header must be a host name.';
  return ['http', 'https'].includes(protocol) ? null : 'X-Forwarded-Proto must be http or https.';
}

/** The URL of Usher that the caller used, such as `https://usher.example.com`. */
function baseUrlOf(request: FastifyRequest): string {
  const fault = originFault(request);
  if (fault !== null) throw new Refusal('malformed_request', fault);
  return `${request.protocol}://${request.host}${linkPrefixOf(request)}`;
}

/** The URL of a path of this server, or the path alone if the origin is unknown. It never throws, because the change may be made already. */
export function addressOf(request: FastifyRequest, path: string): string {
  return originFault(request) === null ? `${baseUrlOf(request)}${path}` : path;
}

/** The URL of the same request with changed query parameters. */
export function pageAddress(request: FastifyRequest, changes: Readonly<Record<string, string>>): string {
  const [path = '/', query = ''] = request.url.split('?', 2);
  const parameters = new URLSearchParams(query);
  for (const [name, value] of Object.entries(changes)) parameters.set(name, value);
  return `${baseUrlOf(request)}${path}?${parameters.toString()}`;
}

export const defaultPerPage = 30;
export const perPage = Type.Integer({ minimum: 1, maximum: maxPageSize, default: defaultPerPage });
/** The cursor as a field of a body. */
export const pageToken = Type.String({ maxLength: 255, description: 'The next_page_token of the previous page' });

/** Query parameters of a list with newest rows first: a page continues where the previous one ended, whatever was added meanwhile. */
export const cursorQuery = {
  cursor: Type.Optional(Type.String({ maxLength: 255, description: 'The cursor from next_page of the previous page' })),
  per_page: perPage,
};

/** The end of a page: the instant and id of its last row. */
export interface Cursor {
  readonly at: Date;
  readonly id: string;
}

/** `attribute` is the JSON pointer to the cursor, for the violation. */
export function readCursor(text: string | undefined, attribute = '/cursor'): Cursor | null {
  const cursor = readSequenceCursor(text, attribute);
  if (cursor === null) return null;
  if (cursor.seq > latest) throw unknownCursor(attribute);
  return { at: new Date(cursor.seq), id: cursor.id };
}

/** `rows` has one row more than the page size if there is a next page. */
export function cutAtCursor<Row>(
  request: FastifyRequest,
  perPage: number,
  rows: readonly Row[],
  cursorOf: (row: Row) => Cursor,
): { rows: Row[]; next_page: string | null } {
  const { page, next } = cutAtToken(perPage, rows, cursorOf);
  return { rows: page, next_page: next === null ? null : pageAddress(request, { cursor: next }) };
}

/** The same for responses with the cursor itself instead of a URL. */
export function cutAtToken<Row>(
  perPage: number,
  rows: readonly Row[],
  cursorOf: (row: Row) => Cursor,
): { page: Row[]; next: string | null } {
  const page = rows.slice(0, perPage);
  const last = page.at(-1);
  if (rows.length <= perPage || last === undefined) return { page, next: null };
  const { at, id } = cursorOf(last);
  return { page, next: encodeCursor({ seq: at.getTime(), id }) };
}

/** The end of a page of a log that is ordered by a sequence number. */
export interface SequenceCursor {
  readonly seq: number;
  readonly id: string;
}

export function readSequenceCursor(text: string | undefined, attribute = '/cursor'): SequenceCursor | null {
  if (text === undefined) return null;
  const [number = '', id = ''] = Buffer.from(text, 'base64url').toString('latin1').split(' ', 2);
  if (!/^\d{1,16}$/.test(number) || !Number.isSafeInteger(Number(number)) || !isUuid(id))
    throw unknownCursor(attribute);
  return { seq: Number(number), id };
}

/** The URL of the page after the cursor. */
export function pageAfter(request: FastifyRequest, cursor: SequenceCursor): string {
  return pageAddress(request, { cursor: encodeCursor(cursor) });
}

function encodeCursor({ seq, id }: SequenceCursor): string {
  return Buffer.from(`${seq} ${id}`, 'latin1').toString('base64url');
}

function unknownCursor(attribute: string): Refusal {
  return invalid([{ attribute, detail: 'is not a cursor of an earlier page' }]);
}
