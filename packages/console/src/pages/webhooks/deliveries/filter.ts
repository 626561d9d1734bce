import type { Operations } from '@usher/sdk/api-types';

/** The filters, as stored in the URL; empty values do not filter. */
export interface Filters {
  readonly state: string;
  readonly type: string;
  /** Local time, in the format of the browser's input: `2027-01-31T09:00`. */
  readonly since: string;
  readonly until: string;
  readonly id: string;
}

export const noFilters: Filters = { state: '', type: '', since: '', until: '', id: '' };

export function filtersOf(search: URLSearchParams): Filters {
  const read = (name: keyof Filters): string => search.get(name) ?? '';
  return { state: read('state'), type: read('type'), since: read('since'), until: read('until'), id: read('id') };
}

export function searchParamsOf(filters: Filters): Record<string, string> {
  return Object.fromEntries(Object.entries(filters).filter(([, value]) => value !== ''));
}

type Query = Operations['GET /webhooks/{webhook_id}/deliveries']['query'];

/** The query of the API. The server refuses invalid values that somebody typed into the URL. */
export function queryOf({ state, type, since, until, id }: Filters): Query {
  return {
    ...(state === '' ? {} : { state: state as NonNullable<Query['state']> }),
    ...(type === '' ? {} : { event_type: type as NonNullable<Query['event_type']> }),
    ...(since === '' ? {} : { since: instantOf(since) }),
    ...(until === '' ? {} : { until: instantOf(until) }),
    ...(id === '' ? {} : { matching_id: id }),
  };
}

export function instantOf(local: string): string {
  const at = new Date(local);
  return Number.isNaN(at.getTime()) ? local : at.toISOString();
}

/** The value of a `datetime-local` input: local time, to the minute. */
export function localOf(at: Date): string {
  const pad = (value: number): string => String(value).padStart(2, '0');
  const day = `${at.getFullYear()}-${pad(at.getMonth() + 1)}-${pad(at.getDate())}`;
  return `${day}T${pad(at.getHours())}:${pad(at.getMinutes())}`;
}

export function isUuid(text: string): boolean {
  return /^[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}$/i.test(text);
}
