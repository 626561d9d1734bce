import { maxPageSize } from '@usher/contract/limits';
import type { FastifyRequest } from 'fastify';
import Type from 'typebox';
import { invalid, Refusal } from './errors.ts';
import { isUuid } from './ids.ts';
import { latest } from './instant.ts';
import { nullable } from './schema.ts';

/** Query parameters of a list. */
export const pageQuery = {
  page: Type.Integer({ minimum: 1, maximum: 1_000_000, default: 1 }),
  per_page: Type.Integer({ minimum: 1, maximum: maxPageSize, default: 30 }),
};

/** The same for lists that are given whole unless asked otherwise. */
export const optionalPageQuery = {
  page: Type.Integer({ minimum: 1, maximum: 1_000_000, default: 1 }),
  per_page: Type.Optional(Type.Integer({ minimum: 1, maximum: maxPageSize })),
};

export const lastPage = Type.String({ description: 'Address of the last page' });
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
  return { rows: rows.slice(0, per_page), next_page: more ? pageAddress(request, { page: String(page + 1) }) : null };
}

/** Of a list whose rows are counted: `total` is asked only where the page itself does not tell it. */
export async function lastPageAddress(
  request: FastifyRequest,
  { page, per_page: perPage }: Required<Page>,
  { found, total }: { readonly found: number; readonly total: () => Promise<number> },
): Promise<string> {
  // `found` has one more than a page holds if there is a next one, and none behind the last page.
  const isLast = found <= perPage && (found > 0 || page === 1);
  const last = isLast ? page : Math.max(1, Math.ceil((await total()) / perPage));
  return pageAddress(request, { page: String(last) });
}

const hostShape = /^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/i;

/** Why the headers do not say by which address the caller reached us; `null`: they do. */
function originFault({ host, protocol }: FastifyRequest): string | null {
  if (!hostShape.test(host)) return 'The Host header is not a host name.';
  return ['http', 'https'].includes(protocol) ? null : 'X-Forwarded-Proto must be http or https.';
}

/** Scheme and host by which the caller reached us, as `https://usher.example.com`. */
function originOf(request: FastifyRequest): string {
  const fault = originFault(request);
  if (fault !== null) throw new Refusal('malformed_request', fault);
  return `${request.protocol}://${request.host}`;
}

/** The address of a path of ours; the path alone where it is not known. It never refuses, as the change may be made already. */
export function addressOf(request: FastifyRequest, path: string): string {
  return originFault(request) === null ? `${originOf(request)}${path}` : path;
}

/** On the host the caller spoke to, with everything else it asked for. */
export function pageAddress(request: FastifyRequest, changes: Readonly<Record<string, string>>): string {
  const [path = '/', query = ''] = request.url.split('?', 2);
  const parameters = new URLSearchParams(query);
  for (const [name, value] of Object.entries(changes)) parameters.set(name, value);
  return `${originOf(request)}${path}?${parameters.toString()}`;
}

export const defaultPerPage = 30;
export const perPage = Type.Integer({ minimum: 1, maximum: maxPageSize, default: defaultPerPage });
/** For a body: the cursor alone. */
export const pageToken = Type.String({ maxLength: 255, description: 'From next_page_token of the page before' });

/** Query parameters of a list that grows at its head: a page goes on where the last one ended, whatever came meanwhile. */
export const cursorQuery = {
  cursor: Type.Optional(Type.String({ maxLength: 255, description: 'From next_page of the page before' })),
  per_page: perPage,
};

/** Where a page ends: the instant and id of its last row. */
export interface Cursor {
  readonly at: Date;
  readonly id: string;
}

/** `attribute`: where the text was. */
export function readCursor(text: string | undefined, attribute = '/cursor'): Cursor | null {
  const place = readPlace(text, attribute);
  if (place === null) return null;
  if (place.seq > latest) throw unknownCursor(attribute);
  return { at: new Date(place.seq), id: place.id };
}

/** `rows` has one more than a page holds if there is a next one. */
export function cutAtCursor<Row>(
  request: FastifyRequest,
  perPage: number,
  rows: readonly Row[],
  cursorOf: (row: Row) => Cursor,
): { rows: Row[]; next_page: string | null } {
  const { page, next } = cutAtToken(perPage, rows, cursorOf);
  return { rows: page, next_page: next === null ? null : pageAddress(request, { cursor: next }) };
}

/** The same for those who are given the cursor itself, and not an address. */
export function cutAtToken<Row>(
  perPage: number,
  rows: readonly Row[],
  cursorOf: (row: Row) => Cursor,
): { page: Row[]; next: string | null } {
  const page = rows.slice(0, perPage);
  const last = page.at(-1);
  if (rows.length <= perPage || last === undefined) return { page, next: null };
  const { at, id } = cursorOf(last);
  return { page, next: placeText({ seq: at.getTime(), id }) };
}

/** Where a page of a log ends that is in the order of a number. */
export interface Place {
  readonly seq: number;
  readonly id: string;
}

export function readPlace(text: string | undefined, attribute = '/cursor'): Place | null {
  if (text === undefined) return null;
  const [number = '', id = ''] = Buffer.from(text, 'base64url').toString('latin1').split(' ', 2);
  if (!/^\d{1,16}$/.test(number) || !Number.isSafeInteger(Number(number)) || !isUuid(id))
    throw unknownCursor(attribute);
  return { seq: Number(number), id };
}

/** The address of the page that goes on behind the place. */
export function pageAfter(request: FastifyRequest, place: Place): string {
  return pageAddress(request, { cursor: placeText(place) });
}

function placeText({ seq, id }: Place): string {
  return Buffer.from(`${seq} ${id}`, 'latin1').toString('base64url');
}

function unknownCursor(attribute: string): Refusal {
  return invalid([{ attribute, detail: 'is not a cursor from an earlier page' }]);
}
