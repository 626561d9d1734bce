import type { FastifyRequest } from 'fastify';
import type { TProperties } from 'typebox';
import type { SiteId } from '../../platform/ids.ts';
import type { Fields } from './changes.ts';

/**
 * Whether a route's changes are written to the audit log, declared next to its schema. Registering a route that can change
 * something without this declaration fails.
 */
export type Audit = Audited | Unaudited;

/**
 * Why the route writes no audit entry.
 * `own work`: the traffic of conversations, which the event log or the engagement already has.
 * `no operator`: operators cannot use the route.
 * `signing in`: the route changes only how the caller signs in.
 */
type Unaudited = 'own work' | 'no operator' | 'signing in';

export interface Audited {
  /** The resource and the verb, such as `queue.update`. */
  readonly action: `${string}.${string}`;
  /**
   * The output schema of the resource. Entries contain these fields only, so that a secret, which no GET shows, cannot get
   * into an entry.
   */
  readonly of: { readonly properties: TProperties };
  /** Fields whose values are hidden: the entry says only that they changed. */
  readonly hides?: readonly string[];
  /** Fields that are left out, because nobody sets them. */
  readonly omits?: readonly string[];
  /** Returns `true` for requests that write no entry. */
  readonly unless?: (request: FastifyRequest) => boolean;
  /**
   * A routing turn makes the change in its own transaction, so the entry is written right after the turn, if the handler called
   * `recordChange`. Otherwise the handler and the entry share one transaction.
   */
  readonly byTurn?: true;
  /** Changes by visitors are written too. On other routes visitors change only their own data. */
  readonly byVisitors?: true;
}

/** Who may see an entry: super_managers of any of these sites, or of each of them; `null` stands for all sites of the account. */
export type ConcernedSites = { readonly any: readonly SiteId[] } | { readonly each: readonly SiteId[] | null };

/** What a handler reports about its change. Missing fields are taken from the response. */
export interface RecordedChange {
  /** The resource before the change, read under the same lock. Required unless the method is POST. */
  readonly before?: object;
  /** The resource after the change; `null` if it was deleted. */
  readonly after?: object | null;
  readonly target?: { readonly id: string; readonly name?: string | null };
  readonly concerns?: ConcernedSites;
}

declare module 'fastify' {
  interface FastifyContextConfig {
    audit?: Audit;
  }
  interface FastifyInstance {
    /** Every route that can change something, and whether it is audited. */
    declaredAudits: DeclaredAudit[];
  }
  interface FastifyRequest {
    /** What the handler has reported so far. */
    recordedChange?: RecordedChange | undefined;
  }
}

export interface DeclaredAudit {
  readonly method: string;
  readonly url: string;
  readonly audit: Audit;
}

/** Called by the handler of an audited route. A second call adds to the first. */
export function recordChange(request: FastifyRequest, change: RecordedChange): void {
  request.recordedChange = { ...request.recordedChange, ...change };
}

/** Fields of the resource that the entry has as its own fields. */
const entryFields = new Set(['id', 'href', 'site_id', 'created_at', 'updated_at']);

export function shownFields({ of, omits = [] }: Audited): string[] {
  return Object.keys(of.properties).filter((field) => !entryFields.has(field) && !omits.includes(field));
}

/** For `unless`: the simulated operators of sample data act all day, and their entries would hide those of people. */
export function isByMadeUpOperator({ caller }: FastifyRequest): boolean {
  return caller.kind === 'operator' && caller.isMadeUp;
}

/** The fields of a row or response; `null` if the value is not an object. */
export function fieldsOf(value: unknown): Fields | null {
  return typeof value === 'object' && value !== null ? (value as Fields) : null;
}
