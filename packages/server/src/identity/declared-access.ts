import type { Role } from '@usher/contract/roles';

/**
 * Who may use a route, declared next to its schema. Registering a route without this declaration fails.
 * Callers that are not named are refused: `{ operator: 'manager', site: 'resource' }` refuses visitors and application tokens.
 */
export type Access =
  | {
      readonly public: true;
      /** What the caller presents instead of a token; shown in the API reference. */
      readonly shows?: string;
    }
  | {
      readonly public?: never;
      /** The lowest role that an operator needs on the site. */
      readonly operator?: Role;
      readonly visitor?: true;
      /** The kind of application token that is required. A secret token is accepted wherever a publishable one is. */
      readonly application?: 'secret' | 'publishable';
      readonly site: SiteSource;
      /** With `resource` and `anywhere`: the rule for operators, if it is more than a role on one site. */
      readonly rule?: OperatorRule;
      /** Refuses tokens that are limited to some sites, because the effect, such as a new API key, is not limited to them. */
      readonly wholeToken?: true;
    };

/**
 * Where to find the site on which the caller needs the role.
 * `none`: only the kind of caller is checked.
 * `anywhere`: an operator needs the role on any of their sites. With a rule, the handler checks the rule and calls `permitAs`.
 * `resource`: the site of the resource that the id names. The handler must load the resource and call `permit`; a response
 * without that call becomes an internal error.
 */
export type SiteSource =
  'params.site_id' | 'body.site_id' | 'body.site_ids' | 'query.site_ids' | 'anywhere' | 'none' | 'resource';

export type GuardedAccess = Exclude<Access, { public: true }>;

export interface DeclaredAccess {
  readonly method: string;
  readonly url: string;
  readonly access: Access;
}

/**
 * Rules for operators that are more than a role on one site. A route declares its rule, the code that decides about the
 * resource confirms it (`permitAs`), the API reference describes it, and the access matrix (`test/identity/access.test.ts`,
 * `test/identity/bystanders.test.ts`) tests it on every route.
 */
export const operatorRules = {
  /** The operator who takes part in the engagement or request now. Others on the site get 403. */
  'takes part': () => 'the operator who takes part, with a role on the site',
  /** Also for operators who took part before, who serve the visitor now, or who manage the site. */
  'took part or manages': () =>
    'an operator with a role on the site who takes part, took part or serves the visitor now; manager on the site',
  /** For files: the side that sent the file, until the engagement ends. */
  'sent it or manages': () =>
    'the operator who takes part, for files sent by their side, until the engagement ends; manager on the site',
  /** For operators, who may be assigned to several sites. */
  'self or one site': (least) => `the operator themselves; ${least} on one of their sites`,
  'every site': (least) => `${least} on every site of the operator`,
  'every site, own availability': (least) =>
    `${least} on every site of the operator; to change only available: the operator themselves, manager on one of their sites`,
  'self or every site': (least) => `the operator themselves; ${least} on every site of the operator`,
  /** For webhooks, which may receive events of several sites. */
  'every webhook site': (least) => `${least} on every site of the webhook`,
  'every webhook site, or registrar': (least) =>
    `${least} on every site of the webhook; the operator who registered it, with any role`,
  /** For the list of webhooks. */
  'any site, or registrar': (least) => `${least} on any site; an operator who has registered webhooks, with any role`,
} as const satisfies Record<string, (least: Role) => string>;

export type OperatorRule = keyof typeof operatorRules;

/** Who may use the route, for the API reference. Derived from the declaration, which is also what is enforced. */
export function describeAccess(access: Access): string {
  if (access.public) return access.shows === undefined ? 'Anyone' : `Anyone who presents ${access.shows}`;
  const { operator, visitor, application } = access;
  const who = [
    operator === undefined ? [] : [describeOperators(access, operator)],
    visitor === undefined ? [] : ['the visitor'],
    application === undefined ? [] : [`${application} application token`],
  ].flat();
  const whole = access.wholeToken === true ? '. Not with a token that is limited to some sites' : '';
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
      return `${least} on every requested site`;
    case 'params.site_id':
    case 'body.site_id':
    case 'resource':
      return `${least} on the site`;
  }
}
