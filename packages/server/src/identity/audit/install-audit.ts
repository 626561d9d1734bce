import type { FastifyRequest, RouteOptions } from 'fastify';
import { inTransaction } from '../../platform/database.ts';
import type { App } from '../../platform/http.ts';
import type { SiteId } from '../../platform/ids.ts';
import { accountOf, operatorOf } from '../access.ts';
import {
  fieldsOf,
  shownFields,
  type Audit,
  type Audited,
  type Concerned,
  type DeclaredAudit,
  type Recorded,
} from './audit.ts';
import { changesOf, type Fields } from './changes.ts';
import { insertEntry, type NewEntry } from './store.ts';

const readOnly = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * The audit log: what operators change, written in the transaction that changes it. Neither is there without the other, and
 * a handler that does not say what it changed changes nothing.
 *
 * To be installed before Idempotency-Key is: that one then holds the transaction, and answers a repeated request without
 * coming here.
 */
export function installAudit(app: App): void {
  const declared: DeclaredAudit[] = [];
  app.decorate('declaredAudits', declared);
  app.decorateRequest('recorded', null);
  app.addHook('onRoute', (route) => {
    const methods = [route.method].flat().filter((method) => !readOnly.has(method));
    if (methods.length === 0) return;
    const audit = auditOf(route);
    declared.push(...methods.map((method) => ({ method, url: route.url, audit })));
    if (typeof audit === 'string') return;
    if (route.schema !== undefined) Object.assign(route.schema, { 'x-audit': audit.action });
    const { handler } = route;
    const write = audit.byTurn === true ? afterTurn : inOne;
    route.handler = async function audited(request, reply) {
      const run = async (): Promise<unknown> => handler.call(this, request, reply);
      const { kind } = request.caller;
      const isTold = kind === 'operator' || (kind === 'visitor' && audit.byVisitors === true);
      if (!isTold || audit.unless?.(request) === true) return run();
      return write(audit, request, run);
    };
  });
}

function auditOf({ method, url, config }: RouteOptions): Audit {
  const audit = config?.audit;
  const name = `${String(method)} ${url}`;
  if (audit === undefined) throw new Error(`${name} does not declare whether its changes are in the audit log`);
  const access = config?.access;
  const forOperators = access !== undefined && !access.public && access.operator !== undefined;
  if (audit === 'no operator' && forOperators) throw new Error(`${name} is for operators, and says that it is not`);
  return audit;
}

type Write = (audit: Audited, request: FastifyRequest, run: () => Promise<unknown>) => Promise<unknown>;

/** The handler and the entry, all or nothing. */
const inOne: Write = async (audit, request, run) => {
  const pool = request.sql;
  try {
    return await inTransaction(pool, async (sql) => {
      request.sql = sql;
      // A transaction that lost a deadlock is run again.
      request.recorded = null;
      const answer = await run();
      await writeEntry(audit, request, answer);
      return answer;
    });
  } finally {
    request.sql = pool;
  }
};

/** The change is made by now. A process that dies here has made it without an entry. */
const afterTurn: Write = async (audit, request, run) => {
  const answer = await run();
  if (request.recorded !== null) await writeEntry(audit, request, answer);
  return answer;
};

async function writeEntry(audit: Audited, request: FastifyRequest, answer: unknown): Promise<void> {
  const recorded = request.recorded ?? {};
  const { before, after } = bothEnds(audit, request, answer);
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
  const { operatorId, keyId } = operatorOf(request);
  return { actor: { type: 'operator', id: operatorId }, via: keyId };
}

/** What a POST makes was not there before, and what a DELETE removes is not there any more. To leave out anything else is a fault of ours. */
function bothEnds({ action }: Audited, { recorded, method }: FastifyRequest, answer: unknown) {
  const before = fieldsOf(recorded?.before);
  const after = recorded?.after === undefined ? fieldsOf(answer) : recorded.after;
  if (before === null && method !== 'POST') throw new Error(`${action} does not say what it has changed`);
  if (after === null && method !== 'DELETE' && recorded?.after !== null)
    throw new Error(`${action} does not say what has become of it`);
  return { before, after: fieldsOf(after) };
}

function targetOf({ target }: Recorded, { id, name }: Fields, nameless: boolean): { id: string; name: string | null } {
  const shown = typeof name === 'string' && !nameless ? name : null;
  if (target !== undefined) return { id: target.id, name: target.name ?? shown };
  if (typeof id !== 'string') throw new Error('what was changed has no id');
  return { id, name: shown };
}

function concernedBy({ action }: Audited, { concerns }: Recorded, { site_id: siteId }: Fields): Concerned {
  if (concerns !== undefined) return concerns;
  if (typeof siteId !== 'string') throw new Error(`${action} does not say which sites it concerns`);
  return { any: [siteId as SiteId] };
}
