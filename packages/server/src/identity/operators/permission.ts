import { atLeast, type Role } from '@usher/contract/roles';
import type { FastifyRequest } from 'fastify';
import type { Sql } from '../../platform/database/database.ts';
import { notFound, Refusal } from '../../platform/errors.ts';
import type { OperatorId, SiteId } from '../../platform/ids.ts';
import { declaredRule, operatorOf, permitAs } from '../access.ts';
import { hasRoleAnywhere, type OperatorCaller } from '../caller.ts';
import type { OperatorRow } from './operator.ts';
import { findOperator } from './store.ts';

const minRoleToRead: Role = 'manager';

/**
 * Who may read or change an operator. An operator may belong to several sites, so a role on one of them is not always enough:
 *
 *   read, presence   the operator themselves, or a manager on one of their sites;
 *   change, keys     the operator themselves if the route's rule says so, or a super_manager on every one of their sites.
 *                    Otherwise the super_manager of one site could take over an operator, and with them their other sites.
 *
 * An operator without a site can be read and changed by anyone who has the role on any site of the account.
 */
export async function operatorToRead(
  request: FastifyRequest,
  id: OperatorId,
  sql: Sql = request.sql,
): Promise<OperatorRow> {
  const caller = operatorOf(request);
  const operator = await visibleOperator(sql, caller, id);
  const mayRead =
    operator.id === caller.operatorId || sharedRoles(caller, operator).some((role) => atLeast(role, minRoleToRead));
  if (!mayRead)
    throw new Refusal('forbidden', `This request needs the role ${minRoleToRead} on one of the operator's sites.`);
  permitAs(request, 'self or one site', 'every site, own availability');
  return operator;
}

export async function operatorToChange(
  request: FastifyRequest,
  id: OperatorId,
  sql: Sql = request.sql,
): Promise<OperatorRow> {
  const caller = operatorOf(request);
  const operator = await visibleOperator(sql, caller, id);
  if (!(declaredRule(request) === 'self or every site' && operator.id === caller.operatorId)) {
    requireSuperManager(
      caller,
      operator.assignments.map((assignment) => assignment.site_id),
    );
  }
  permitAs(request, 'self or every site', 'every site', 'every site, own availability');
  return operator;
}

/** Refuses unless the caller is super_manager on all of the sites. */
export function requireSuperManager(caller: OperatorCaller, sites: readonly SiteId[]): void {
  const lacking = sites.find((site) => caller.roles.get(site) !== 'super_manager');
  if (lacking === undefined && (sites.length > 0 || hasRoleAnywhere(caller, 'super_manager'))) return;
  throw new Refusal(
    'forbidden',
    lacking === undefined
      ? 'This request needs the role super_manager on at least one site.'
      : `This request needs the role super_manager on every site of the operator, also on ${lacking}.`,
  );
}

async function visibleOperator(sql: Sql, caller: OperatorCaller, id: OperatorId): Promise<OperatorRow> {
  const operator = await findOperator(sql, caller.accountId, id);
  if (operator === null) throw notFound('operator', id);
  const visible =
    operator.id === caller.operatorId || operator.assignments.length === 0 || sharedRoles(caller, operator).length > 0;
  if (!visible) throw notFound('operator', id);
  return operator;
}

/** The caller's roles on the operator's sites; for an operator without a site, all roles of the caller. */
function sharedRoles(caller: OperatorCaller, operator: OperatorRow): Role[] {
  if (operator.assignments.length === 0) return [...caller.roles.values()];
  return operator.assignments.flatMap(({ site_id }) => caller.roles.get(site_id) ?? []);
}
