import type { FastifyRequest, RouteOptions } from 'fastify';
import { isReadOnly, type App } from '../../platform/http/http.ts';
import type { SiteId } from '../../platform/ids.ts';
import type { AroundHandler, ForRoute } from '../../platform/http/request-path.ts';
import { sendWithCommit, type NeedsTransaction } from '../../platform/http/request-transaction.ts';
import { accountOf, operatorOf } from '../access.ts';
import {
  fieldsOf,
  shownFields,
  type Audit,
  type Audited,
  type ConcernedSites,
  type DeclaredAudit,
  type RecordedChange,
} from './audit.ts';
import { changesOf, type Fields } from './changes.ts';
import { insertEntry, type NewEntry } from './store.ts';

/** Every route that can change something declares whether it is audited. */
export function declareAudits(app: App): (route: RouteOptions) => void {
  const declared: DeclaredAudit[] = [];
  app.decorate('declaredAudits', declared);
  return (route) => {
    if (isReadOnly(route)) return;
    const audit = auditOf(route);
    declared.push(...[route.method].flat().map((method) => ({ method, url: route.url, audit })));
    if (typeof audit !== 'string' && route.schema !== undefined)
      Object.assign(route.schema, { 'x-audit': audit.action });
  };
}

/**
 * Writes the audit log: an entry for each change by an operator, in the transaction of the change, so that neither exists
 * without the other. A handler that does not report its change is rolled back.
 *
 * Idempotency-Key is outside of this step, and replays the response to a repeated request without an entry.
 */
export const writeAudit: ForRoute<AroundHandler> = (route) => {
  const audit = auditedOf(route);
  if (audit === null) return null;
  const write = audit.byTurn === true ? writeAfterTurn : writeWithCommit;
  return async (request, reply, next) => {
    if (!hasEntry(audit, request)) return next(request, reply);
    return write(audit, request, async () => next(request, reply));
  };
};

/** The entry and the change are one transaction, unless the change is a turn, which has a transaction of its own. */
export const isAudited: NeedsTransaction = (route) => {
  const audit = auditedOf(route);
  return audit === null || audit.byTurn === true ? null : (request) => hasEntry(audit, request);
};

function hasEntry({ byVisitors, unless }: Audited, request: FastifyRequest): boolean {
  const { kind } = request.caller;
  return (kind === 'operator' || (kind === 'visitor' && byVisitors === true)) && unless?.(request) !== true;
}

/** `null`: the route has no entries. */
function auditedOf(route: RouteOptions): Audited | null {
  const audit = isReadOnly(route) ? null : auditOf(route);
  return typeof audit === 'string' ? null : audit;
}

function auditOf({ method, url, config }: RouteOptions): Audit {
  const audit = config?.audit;
  const name = `${String(method)} ${url}`;
  if (audit === undefined) throw new Error(`${name} does not declare whether its changes are audited`);
  const access = config?.access;
  const forOperators = access !== undefined && !access.public && access.operator !== undefined;
  if (audit === 'no operator' && forOperators)
    throw new Error(`${name} declares 'no operator', but operators may use it`);
  return audit;
}

type Write = (audit: Audited, request: FastifyRequest, run: () => Promise<unknown>) => Promise<unknown>;

const writeWithCommit: Write = async (audit, request, run) => {
  // A transaction that lost a deadlock runs again.
  request.recordedChange = undefined;
  const answer = await run();
  sendWithCommit(request, async () => writeEntry(audit, request, answer));
  return answer;
};

/** The turn has committed the change already: if the process dies before the entry is written, the entry is missing. */
const writeAfterTurn: Write = async (audit, request, run) => {
  const answer = await run();
  if (request.recordedChange !== undefined) await writeEntry(audit, request, answer);
  return answer;
};

async function writeEntry(audit: Audited, request: FastifyRequest, answer: unknown): Promise<void> {
  const recorded = request.recordedChange ?? {};
  const { before, after } = beforeAndAfter(audit, request, answer);
  const hidden = new Set(audit.hides);
  const changes = changesOf(before, after, { shown: shownFields(audit), hidden });
  if (before !== null && after !== null && changes.length === 0) return;
  const resource = after ?? before ?? {};
  const [type = ''] = audit.action.split('.', 1);
  await insertEntry(request.sql, {
    accountId: accountOf(request),
    ...actorOf(request),
    action: audit.action,
    target: { type, ...targetOf(recorded, resource, hidden.has('name')) },
    concerned: concernedBy(audit, recorded, resource),
    changes,
    requestId: request.id,
  });
}

function actorOf(request: FastifyRequest): Pick<NewEntry, 'actor' | 'via'> {
  const { caller } = request;
  if (caller.kind === 'visitor') return { actor: { type: 'visitor', id: caller.visitorId }, via: caller.visitorId };
  const { operatorId, credentialId } = operatorOf(request);
  return { actor: { type: 'operator', id: operatorId }, via: credentialId };
}

/** Only a POST may lack `before`, and only a DELETE may lack `after`. Any other handler that does not report them has a bug. */
function beforeAndAfter({ action }: Audited, { recordedChange: recorded, method }: FastifyRequest, answer: unknown) {
  const before = fieldsOf(recorded?.before);
  const after = recorded?.after === undefined ? fieldsOf(answer) : recorded.after;
  if (before === null && method !== 'POST') throw new Error(`${action} does not record the resource before the change`);
  if (after === null && method !== 'DELETE' && recorded?.after !== null)
    throw new Error(`${action} does not record the resource after the change`);
  return { before, after: fieldsOf(after) };
}

function targetOf(
  { target }: RecordedChange,
  { id, name }: Fields,
  hidesName: boolean,
): { id: string; name: string | null } {
  const shown = typeof name === 'string' && !hidesName ? name : null;
  if (target !== undefined) return { id: target.id, name: target.name ?? shown };
  if (typeof id !== 'string') throw new Error('the changed resource has no id');
  return { id, name: shown };
}

function concernedBy({ action }: Audited, { concerns }: RecordedChange, { site_id: siteId }: Fields): ConcernedSites {
  if (concerns !== undefined) return concerns;
  if (typeof siteId !== 'string') throw new Error(`${action} does not record which sites it concerns`);
  return { any: [siteId as SiteId] };
}
