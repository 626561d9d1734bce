import { atLeast, type Role } from '@usher/contract/roles';
import type { GetCurrentSessionResponse, Problem } from '@usher/sdk/api-types';

interface ApiRequest {
  readonly method: 'GET' | 'POST' | 'PUT';
  readonly path: string;
  readonly body?: unknown;
  readonly ifMatch?: string;
}

interface ApiAnswer {
  readonly status: number;
  readonly body: unknown;
  readonly etag: string | null;
  readonly retryAfterSec: number | null;
}

/**
 * Sends one request to Usher's API with the token of the person who uses the tools. It is all that a tool can do, so a tool has the
 * rights of that person and no others.
 */
export type CallApi = (request: ApiRequest) => Promise<ApiAnswer>;

/** A tool could not do its work. The message is for the user of the tool, and says what to do. */
export class ToolError extends Error {
  override readonly name = 'ToolError';
  readonly code: string;
  readonly status: number | null;

  constructor(message: string, { code = 'tool', status = null }: { code?: string; status?: number | null } = {}) {
    super(message);
    this.code = code;
    this.status = status;
  }
}

type Query = Readonly<Record<string, string | number | readonly string[] | undefined>>;

interface Page {
  readonly next_page: string | null;
}

/** Sites are in the query, and the first line of a request has a limit. */
const maxSites = 300;
const maxPageSize = 1_000;

/** The API as tools read it: refusals become errors that say what to do. */
export class ToolApi {
  readonly #call: CallApi;

  constructor(call: CallApi) {
    this.#call = call;
  }

  async get<T>(path: string, query: Query = {}): Promise<T> {
    return (await this.getTagged<T>(path, query)).body;
  }

  async getTagged<T>(path: string, query: Query = {}): Promise<{ readonly body: T; readonly etag: string }> {
    return this.#send<T>({ method: 'GET', path: `${path}${queryOf(query)}` });
  }

  async post<T>(path: string, body: unknown): Promise<T> {
    return (await this.#send<T>({ method: 'POST', path, body })).body;
  }

  /** Changes a resource if it still has this entity tag. */
  async put<T>(path: string, body: unknown, ifMatch: string): Promise<T> {
    return (await this.#send<T>({ method: 'PUT', path, body, ifMatch })).body;
  }

  /** All pages of a list. */
  async all<Key extends string, Row>(path: string, key: Key): Promise<Row[]> {
    const rows: Row[] = [];
    for (let page = 1; ; page += 1) {
      const answer = await this.get<Page & Readonly<Record<Key, readonly Row[]>>>(path, {
        page,
        per_page: maxPageSize,
      });
      rows.push(...answer[key]);
      if (answer.next_page === null) return rows;
    }
  }

  /** The given site, or all sites on which the caller has this role, for `site_ids`. */
  async siteIds(least: Role, given: string | undefined): Promise<string> {
    if (given !== undefined) return given;
    const { site_roles } = await this.get<GetCurrentSessionResponse>('/operator_authentication/sessions/current');
    const reached = Object.keys(site_roles);
    const permitted = reached.filter((id) => atLeast(site_roles[id] ?? 'operator', least));
    // If no site is left, the API refuses the request, and its answer names the missing role.
    const ids = permitted.length > 0 ? permitted : reached;
    if (ids.length === 0) throw new ToolError('The token reaches no site. Ask a super_manager for a role on a site.');
    if (ids.length > maxSites)
      throw new ToolError(`The token reaches ${ids.length} sites. Name one of them as site_id.`);
    return ids.join(',');
  }

  async #send<T>(request: ApiRequest): Promise<{ readonly body: T; readonly etag: string }> {
    const answer = await this.#call(request);
    if (answer.status >= 400) throw refusalOf(answer);
    return { body: answer.body as T, etag: answer.etag ?? '' };
  }
}

/** The value in `next_page` that asks for the next page; `null` on the last page. */
export function cursorOf(nextPage: string | null): string | null {
  if (nextPage === null) return null;
  // The origin differs between transports and does not matter.
  const { searchParams } = new URL(nextPage, 'http://localhost');
  return searchParams.get('cursor') ?? searchParams.get('page');
}

/** Whether the API refused because the caller lacks a role. */
export function isForbidden(error: unknown): boolean {
  return error instanceof ToolError && error.status === 403;
}

/** What to do about a refusal, where its own text does not say it. */
const advice: Readonly<Record<number, string>> = {
  401: 'Connect again with a valid token.',
  403: 'Nothing was done. Somebody with this permission can do it.',
  412: 'Nothing was changed.',
};

function refusalOf({ status, body, retryAfterSec }: ApiAnswer): ToolError {
  const { detail = `The server responded with status ${status}.`, error = 'internal_error' } = (body ??
    {}) as Partial<Problem>;
  const wait = retryAfterSec === null || detail.includes('Try again') ? [] : [`Try again in ${retryAfterSec} s.`];
  const text = [detail, ...(advice[status] === undefined ? [] : [advice[status]]), ...wait].join(' ');
  return new ToolError(text, { code: error, status });
}

function queryOf(query: Query): string {
  const given = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [value].flat().map((each) => `${name}=${encodeURIComponent(each)}`),
  );
  return given.length === 0 ? '' : `?${given.join('&')}`;
}
