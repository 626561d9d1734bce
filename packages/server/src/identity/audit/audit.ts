import type { FastifyRequest } from 'fastify';
import type { TProperties } from 'typebox';
import type { SiteId } from '../../platform/ids.ts';
import type { Fields } from './changes.ts';

/**
 * Whether a route's changes are in the audit log, declared beside its schema. A route that changes anything and declares
 * nothing is refused when it is registered.
 */
export type Audit = Audited | Unaudited;

/**
 * Why there is nothing to tell.
 * `own work`: the traffic of conversations, which is in the log of events or in the engagement itself.
 * `no operator`: operators cannot use the route.
 * `signing in`: nothing is changed but the caller's own token.
 * `dry run`: nothing is changed at all.
 */
type Unaudited = 'own work' | 'no operator' | 'signing in' | 'dry run';

export interface Audited {
  /** What is changed and how, such as `queue.update`. */
  readonly action: `${string}.${string}`;
  /**
   * The resource as its GET shows it: entries tell of these fields and no others, so that what no GET shows, a secret
   * above all, cannot get into one.
   */
  readonly of: { readonly properties: TProperties };
  /** Fields whose values are not told. */
  readonly hides?: readonly string[];
  /** Fields that nobody sets. */
  readonly omits?: readonly string[];
  /** These changes are in no entry after all, for a reason that the route names. */
  readonly unless?: (request: FastifyRequest) => boolean;
  /**
   * The change is a turn's, which has its own transaction: the entry is written right after it, where the handler has called
   * `recordChange`. Everywhere else the handler and the entry are one transaction.
   */
  readonly byTurn?: true;
  /** Changes by visitors are told too. Elsewhere visitors change only what is their own. */
  readonly byVisitors?: true;
}

/** Who may see an entry: those who are super_manager of any of the sites, or of each; `null`: all the account has. */
export type Concerned = { readonly any: readonly SiteId[] } | { readonly each: readonly SiteId[] | null };

/** What a handler knows of its change. Whatever is left out is taken from the answer. */
export interface Recorded {
  /** As it was, read under the lock it is changed under. Whatever is not a POST must say it. */
  readonly before?: object;
  /** As it is; `null`: it is no more. */
  readonly after?: object | null;
  readonly target?: { readonly id: string; readonly name?: string | null };
  readonly concerns?: Concerned;
}

declare module 'fastify' {
  interface FastifyContextConfig {
    audit?: Audit;
  }
  interface FastifyInstance {
    /** Every route that changes anything, and whether that is in the audit log. */
    declaredAudits: DeclaredAudit[];
  }
  interface FastifyRequest {
    recorded: Recorded | null;
  }
}

export interface DeclaredAudit {
  readonly method: string;
  readonly url: string;
  readonly audit: Audit;
}

/** For the handler of an audited route. Called again, it adds to what it was told. */
export function recordChange(request: FastifyRequest, recorded: Recorded): void {
  request.recorded = { ...request.recorded, ...recorded };
}

/** Told by the entry's own fields. */
const elsewhere = new Set(['id', 'href', 'site_id', 'created_at', 'updated_at']);

export function shownFields({ of, omits = [] }: Audited): string[] {
  return Object.keys(of.properties).filter((field) => !elsewhere.has(field) && !omits.includes(field));
}

/** For `unless`: the made-up operators of sample data do this all day, and people would not find their own changes. */
export function isByMadeUpOperator({ caller }: FastifyRequest): boolean {
  return caller.kind === 'operator' && caller.isMadeUp;
}

/** The fields of a row, or of an answer that is an object. */
export function fieldsOf(value: unknown): Fields | null {
  return typeof value === 'object' && value !== null ? (value as Fields) : null;
}
