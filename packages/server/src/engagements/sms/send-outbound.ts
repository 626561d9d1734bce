import { insertVisitor } from '../../identity/visitors/store.ts';
import { inTransaction, type Sql } from '../../platform/database.ts';
import { invalid, Refusal } from '../../platform/errors.ts';
import {
  newId,
  type AccountId,
  type OperatorId,
  type RequestId,
  type SiteId,
  type VisitorId,
} from '../../platform/ids.ts';
import type { RequestView } from '../../routing/board/views/views.ts';
import { notesOf } from '../../routing/notes.ts';
import type { Turns } from '../../routing/turns.ts';
import { findRequest } from '../requests/store.ts';
import type { SmsThread } from './sms.ts';
import {
  accountOfNumber,
  dropPrepared,
  findThread,
  insertAsking,
  insertThread,
  lockNumbers,
  visitorAtPhone,
} from './store.ts';

interface OutboundInput {
  readonly accountId: AccountId;
  readonly siteId: SiteId;
  readonly operatorId: OperatorId;
  readonly from: string;
  readonly to: string;
  readonly body: string;
  /** The same whenever the request is repeated; `null`: it cannot be. */
  readonly keyedId: RequestId | null;
}

/**
 * Makes a request by SMS. The request is made by a turn, on another connection, so the SMS is written first:
 *
 *   prepare   the visitor, the thread and the SMS, `prepared`, under the id that the request will have;
 *   ask       the turn makes the request;
 *   release   the SMS is `queued`, and goes.
 *
 * Whoever dies in between leaves a prepared SMS, which `handleDue` finds: it goes if the request is there, and is dropped if
 * it does not come. `sql` must not be the transaction of an Idempotency-Key, whose end nobody else would wait for.
 */
export async function sendOutbound(sql: Sql, turns: Turns, asked: OutboundInput): Promise<RequestView> {
  const thread = await inTransaction(sql, async (own) => prepare(own, asked));
  const { requestId, accountId } = thread;
  const made = await ask(turns, thread, asked.keyedId === requestId).catch(async (error: unknown) => {
    if (error instanceof Refusal) await dropPrepared(sql, requestId);
    throw error;
  });
  await inTransaction(sql, async (own) => {
    // Both again: where the turn took very long, what was prepared may have been given up.
    await insertThread(own, thread);
    await insertAsking(own, thread, asked.body, 'queued');
  });
  const request = made ?? (await findRequest(sql, accountId, requestId));
  if (request === null) throw new Error('a request was neither made nor had been');
  return request;
}

async function prepare(sql: Sql, asked: OutboundInput): Promise<SmsThread> {
  const { accountId, siteId, operatorId, from, to, keyedId } = asked;
  const before = keyedId === null ? null : await findThread(sql, keyedId);
  // The same request made it, and its answer was lost. A key that is used anew after its day asks for something new.
  if (before?.isRecent === true) return before;
  const requestId = (before === null ? keyedId : null) ?? newId<RequestId>();
  await lockNumbers(sql, siteId, from, to);
  const owner = await accountOfNumber(sql, from);
  // Or a reply could reach somebody else's operator.
  if (owner !== null && owner !== accountId)
    throw invalid([{ attribute: '/from_number', detail: 'is not a number of this account' }]);
  const visitorId = (await visitorAtPhone(sql, siteId, to)) ?? (await addVisitor(sql, asked));
  const thread: SmsThread = { requestId, accountId, siteId, visitorId, operatorId, from, to };
  await insertThread(sql, thread);
  await insertAsking(sql, thread, asked.body, 'prepared');
  return thread;
}

async function addVisitor(sql: Sql, { accountId, siteId, to: phone }: OutboundInput): Promise<VisitorId> {
  const id = newId<VisitorId>();
  await insertVisitor(sql, { id, accountId, siteId, name: null, teamIds: [], phone });
  return id;
}

async function ask(turns: Turns, thread: SmsThread, repeatable: boolean): Promise<RequestView | null> {
  const { requestId, accountId, siteId, visitorId, operatorId } = thread;
  return turns.run(accountId, {
    name: 'requestDirectly',
    id: requestId,
    repeatable,
    origin: 'operator',
    siteId,
    visitorId,
    operatorId,
    medium: 'text',
    notes: { ...notesOf({}), platform: 'sms' },
    address: null,
  });
}
