import type { FastifyRequest } from 'fastify';
import { inTransaction, violatedConstraint, type Sql } from '../../platform/database/database.ts';
import { invalid, Refusal, type Violation } from '../../platform/errors.ts';
import { preconditionFailed } from '../../platform/http/etag.ts';
import { newId, type AccountId, type OperatorId, type SiteId } from '../../platform/ids.ts';
import { accountOf, operatorOf } from '../access.ts';
import { recordChange } from '../audit/audit.ts';
import type { OperatorCaller } from '../caller.ts';
import { lockAccount } from '../lock-account.ts';
import { forgetDevices } from '../sign-in/devices/store.ts';
import { setPassword } from '../sign-in/passwords/store.ts';
import { withdrawInvitations } from '../sign-in/invitations/store.ts';
import { withdrawLinks } from '../sign-in/links.ts';
import { endSessions } from '../sign-in/sessions/store.ts';
import { teamsOnSite } from '../teams/store.ts';
import {
  completeAssignments,
  newOperator,
  operatorFields,
  storedDisplayName,
  type Assignment,
  type OperatorInput,
  type OperatorRow,
  type OperatorSettings,
  type OperatorUpdate,
} from './operator.ts';
import { operatorToChange, operatorToRead, requireSuperManager } from './permission.ts';
import {
  findOperator,
  insertOperator,
  lockOperator,
  replaceAssignments,
  setPresence,
  sitesWithoutSuperManager,
  updateOperator,
} from './store.ts';

/** `passwordHash` is `null` if the operator is created without a password. */
export async function createOperator(
  request: FastifyRequest,
  given: OperatorInput,
  passwordHash: string | null,
): Promise<OperatorRow> {
  const caller = operatorOf(request);
  const accountId = accountOf(request);
  const settings = newOperator(given);
  const assignments = completeAssignments(given.assignments, settings.role);
  await checkAssignments(request.sql, caller, assignments);
  const id = newId<OperatorId>();
  recordChange(request, { concerns: { any: sitesOf({ assignments }) } });
  return write(request.sql, async (sql) => {
    await lockAccount(sql, accountId);
    await insertOperator(sql, id, accountId, settings);
    if (passwordHash !== null) await setPassword(sql, { accountId, operatorId: id, hash: passwordHash });
    await replaceAssignments(sql, accountId, id, assignments);
    return reread(sql, accountId, id);
  });
}

interface OperatorChange {
  readonly id: OperatorId;
  readonly given: OperatorUpdate;
  /** The versions that `If-Match` accepts; `null`: any. */
  readonly versions: readonly number[] | null;
}

/** Permission and changes are decided on the locked row, so that no other change can come in between. */
export async function changeOperator(
  request: FastifyRequest,
  { id, given, versions }: OperatorChange,
): Promise<OperatorRow> {
  const caller = operatorOf(request);
  const fields = changedFields(given);
  return write(request.sql, async (sql) => {
    await lockOperator(sql, caller.accountId, id);
    const current = changesPresenceOnly(given)
      ? await operatorToRead(request, id, sql)
      : await operatorToChange(request, id, sql);
    if (versions !== null && !versions.includes(current.version)) throw preconditionFailed(current.version);
    const assignments = given.assignments && completeAssignments(given.assignments, given.role ?? current.role);
    if (assignments) await checkAssignments(sql, caller, assignments);
    const after = { enabled: fields.enabled ?? current.enabled, assignments: assignments ?? current.assignments };
    await keepSuperManagers(sql, current, after);
    if (assignments) await replaceAssignments(sql, caller.accountId, id, assignments);
    if (assignments || Object.keys(fields).length > 0) await updateOperator(sql, id, fieldsAfter(current, fields));
    if (current.enabled && !after.enabled) await endSignIns(sql, id);
    if (given.available !== undefined) {
      await setPresence(sql, id, { available: given.available, media: null, expiresInSec: null, reason: null });
    }
    recordChange(request, { before: current, concerns: { any: [...sitesOf(current), ...sitesOf(after)] } });
    return reread(sql, caller.accountId, id);
  });
}

/**
 * A display name that equals the operator's name follows the name when it changes. This also holds if a client sends back the
 * operator it has read, with only the name changed.
 */
function fieldsAfter(current: OperatorRow, changed: Partial<OperatorSettings>): OperatorSettings {
  const name = changed.name ?? current.name;
  const chosen = storedDisplayName(current.display_name, current.name);
  const isUnchanged = changed.display_name === undefined || changed.display_name === current.display_name;
  const display_name = isUnchanged ? chosen : storedDisplayName(changed.display_name, name);
  return { ...current, ...changed, display_name };
}

/** When the operator is enabled again they may sign in again, but earlier sessions do not come back. */
async function endSignIns(sql: Sql, id: OperatorId): Promise<void> {
  await endSessions(sql, id);
  await withdrawInvitations(sql, id);
  await withdrawLinks(sql, id);
  await forgetDevices(sql, id);
}

export function changesPresenceOnly(given: OperatorUpdate): boolean {
  return given.assignments === undefined && Object.keys(changedFields(given)).length === 0;
}

function sitesOf({ assignments }: Pick<OperatorRow, 'assignments'>): SiteId[] {
  return assignments.map(({ site_id }) => site_id);
}

function changedFields({ display_name, ...given }: OperatorUpdate): Partial<OperatorSettings> {
  return { ...operatorFields.changes(given), ...(display_name === undefined ? {} : { display_name }) };
}

/** Reports all violations together: sites that are unknown to the caller or assigned twice, and teams of other sites. */
async function checkAssignments(sql: Sql, caller: OperatorCaller, assignments: readonly Assignment[]): Promise<void> {
  const violations: Violation[] = [];
  const seen = new Set<SiteId>();
  for (const [index, { site_id, team_ids }] of assignments.entries()) {
    const at = `/assignments/${index}`;
    if (seen.has(site_id)) violations.push({ attribute: `${at}/site_id`, detail: 'is assigned twice' });
    seen.add(site_id);
    if (!caller.roles.has(site_id)) {
      violations.push({ attribute: `${at}/site_id`, detail: 'is not a site that this token reaches' });
      continue;
    }
    const siteTeams = await teamsOnSite(sql, site_id, team_ids);
    for (const [teamIndex, team] of team_ids.entries()) {
      if (!siteTeams.has(team))
        violations.push({ attribute: `${at}/team_ids/${teamIndex}`, detail: 'is not a team of the site' });
    }
  }
  if (violations.length > 0) throw invalid(violations);
  requireSuperManager(
    caller,
    assignments.map(({ site_id }) => site_id),
  );
}

/** Refuses to remove the last super_manager of a site, because nobody could change the site any more. */
async function keepSuperManagers(
  sql: Sql,
  before: OperatorRow,
  after: Pick<OperatorRow, 'enabled' | 'assignments'>,
): Promise<void> {
  const superManagedSites = (operator: Pick<OperatorRow, 'enabled' | 'assignments'>): SiteId[] =>
    operator.enabled
      ? operator.assignments.filter(({ role }) => role === 'super_manager').map(({ site_id }) => site_id)
      : [];
  const kept = superManagedSites(after);
  const orphaned = await sitesWithoutSuperManager(
    sql,
    before.id,
    superManagedSites(before).filter((site) => !kept.includes(site)),
  );
  if (orphaned.length === 0) return;
  throw new Refusal(
    'last_super_manager',
    `This operator is the last super_manager on ${orphaned.join(', ')}. Make another operator super_manager first.`,
  );
}

async function reread(sql: Sql, accountId: AccountId, id: OperatorId): Promise<OperatorRow> {
  const operator = await findOperator(sql, accountId, id);
  if (operator === null) throw new Error('a locked operator does not exist');
  return operator;
}

async function write(pool: Sql, run: (sql: Sql) => Promise<OperatorRow>): Promise<OperatorRow> {
  try {
    return await inTransaction(pool, run);
  } catch (error) {
    const constraint = violatedConstraint(error);
    if (constraint === 'operators_email') {
      throw new Refusal('email_taken', 'Another operator of the account has this e-mail address.', {
        details: [{ attribute: '/email', detail: 'is taken' }],
      });
    }
    if (constraint?.startsWith('operator_teams_') === true) {
      throw invalid([{ attribute: '/assignments', detail: 'contains a team that has just been deleted' }]);
    }
    if (constraint === 'operator_assignments_account_id_site_id_fkey') {
      throw invalid([{ attribute: '/assignments', detail: 'contains a site that has just been deleted' }]);
    }
    throw error;
  }
}
