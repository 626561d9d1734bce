import type { Role } from '@usher/contract/roles';

/**
 * Who may use a route, declared beside its schema. A route that declares nothing is refused when it is registered.
 * What is not named may not: `{ operator: 'manager', site: 'resource' }` shuts out visitors and application tokens.
 */
export type Access =
  | {
      readonly public: true;
      /** What the caller shows instead of a token; said in the reference. */
      readonly shows?: string;
    }
  | {
      readonly public?: never;
      /** The least role an operator must have on the site concerned. */
      readonly operator?: Role;
      readonly visitor?: true;
      /** The kind of application token that is enough; a secret one may do what a publishable one may. */
      readonly application?: 'secret' | 'publishable';
      readonly site: SiteSource;
      /** Of `resource` and `anywhere`: what is asked of an operator where the role on one site is not the whole rule. */
      readonly rule?: OperatorRule;
      /** For what reaches beyond the sites that a token was limited to: a key is all of an operator, a new site is another. */
      readonly wholeToken?: true;
    };

/**
 * Where the site concerned is found.
 * `none`: no site is; the kind of caller is all that counts.
 * `anywhere`: an operator needs the role on any of its sites. With a rule, the handler decides by it and calls `permitAs`.
 * `resource`: it belongs to what the id names; the handler must call `permit` once it has found that, and is held to it.
 */
export type SiteSource =
  'params.site_id' | 'body.site_id' | 'body.site_ids' | 'query.site_ids' | 'anywhere' | 'none' | 'resource';

export type GuardedAccess = Exclude<Access, { public: true }>;

/** A route and who may use it. */
export interface DeclaredAccess {
  readonly method: string;
  readonly url: string;
  readonly access: Access;
}

/**
 * What is asked of an operator where the role on one site is not the whole rule. A route declares its rule, the code that
 * decides about the resource reads it from there (`permitAs`), the reference says it in words, and the access matrix
 * (`test/identity/access.test.ts`, `test/identity/bystanders.test.ts`) asks every route whether it keeps to it.
 */
export const operatorRules = {
  /** The operator who takes part in the engagement, or in the request, now. To others on the site it is forbidden. */
  'takes part': () => 'the operator who takes part, with a role on the site',
  /** Also for operators who took part before, who serve the visitor now, or who manage the site. */
  'took part or manages': () =>
    'an operator with a role on the site who takes or took part, or has the visitor now; manager on the site',
  /** About a file: the side that sent it, while the engagement goes on. */
  'sent it or manages': () =>
    'the operator who takes part, of what their side has sent, while the engagement goes on; manager on the site',
  /** About an operator, who may have several sites. */
  'self or one site': (least) => `the operator itself; ${least} on one of its sites`,
  'every site': (least) => `${least} on every site of the operator`,
  'every site, own availability': (least) =>
    `${least} on every site of the operator; for available alone, the operator itself and manager on one of its sites`,
  'self or every site': (least) => `the operator itself; ${least} on every site of the operator`,
  /** About a webhook, which may hear of several sites. */
  'every site heard': (least) => `${least} on every site that the webhook hears of`,
  'every site heard, or registrar': (least) =>
    `${least} on every site that the webhook hears of; the operator who registered it, with any role`,
  /** About the list of webhooks. */
  'any site, or registrar': (least) => `${least} on any site; an operator who has registered webhooks, with any role`,
} as const satisfies Record<string, (least: Role) => string>;

export type OperatorRule = keyof typeof operatorRules;

/** For the reference: who may. Derived from what the route declares, which is what is enforced. */
export function describeAccess(access: Access): string {
  if (access.public) return access.shows === undefined ? 'Anyone' : `Anyone who shows ${access.shows}`;
  const { operator, visitor, application } = access;
  const who = [
    operator === undefined ? [] : [describeOperators(access, operator)],
    visitor === undefined ? [] : ['the visitor'],
    application === undefined ? [] : [`${application} application token`],
  ].flat();
  const whole = access.wholeToken === true ? '. Not with a token that was obtained for some sites only' : '';
  return `Who: ${who.join('; ')}${whole}`;
}

function describeOperators({ site, rule }: GuardedAccess, least: Role): string {
  if (rule !== undefined) return operatorRules[rule](least);
  switch (site) {
    case 'none':
      return 'any operator';
    case 'anywhere':
      return `${least} on any site`;
    case 'query.site_ids':
    case 'body.site_ids':
      return `${least} on every site that is asked for`;
    case 'params.site_id':
    case 'body.site_id':
    case 'resource':
      return `${least} on the site`;
  }
}
