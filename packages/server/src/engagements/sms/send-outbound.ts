import { insertVisitor } from '../../identity/visitors/store.ts';
import { inTransaction, type Sql } from '../../platform/database/database.ts';
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
  dropVisitorWithoutThread,
  findThread,
  insertRequestSms,
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
  /** The same id whenever the request is repeated; `null`: the request has no Idempotency-Key. */
  readonly keyedId: RequestId | null;
}

/**
 * Makes a request by SMS. A turn creates the request on another connection, so the SMS is written first:
 *
 *   prepare   stores the visitor, the thread and the SMS, `prepared`, under the future id of the request;
 *   request   the turn creates the request;
 *   release   the SMS becomes `queued` and is sent.
 *
 * After a crash in between, `handleDue` finds the prepared SMS: it sends the SMS if the request exists, and drops it if not. `sql`
 * must not be the transaction of an Idempotency-Key, because `prepare` must be committed before the turn runs.
 */
export async function sendOutbound(sql: Sql, turns: Turns, input: OutboundInput): Promise<RequestView> {
  const { thread, isNewVisitor } = await inTransaction(sql, async (own) => prepare(own, input));
  const { requestId, accountId } = thread;
  const made = await createRequest(turns, thread, input.keyedId === requestId).catch(async (error: unknown) => {
    if (error instanceof Refusal) await inTransaction(sql, async (own) => unprepare(own, { thread, isNewVisitor }));
    throw error;
  });
  await inTransaction(sql, async (own) => {
    // Insert both again: if the turn took very long, the prepared rows may have been dropped.
    await insertThread(own, thread);
    await insertRequestSms(own, thread, input.body, 'queued');
  });
  const request = made ?? (await findRequest(sql, accountId, requestId));
  if (request === null) throw new Error('the request was neither created now nor before');
  return request;
}

interface Prepared {
  readonly thread: SmsThread;
  /** The visitor was added with the thread. */
  readonly isNewVisitor: boolean;
}

async function prepare(sql: Sql, input: OutboundInput): Promise<Prepared> {
  const { accountId, siteId, operatorId, from, to, keyedId } = input;
  const before = keyedId === null ? null : await findThread(sql, keyedId);
  // The same request created this thread, and its answer was lost. A key that is reused after 24 hours means a new request.
  if (before?.isRecent === true) return { thread: before, isNewVisitor: false };
  const requestId = (before === null ? keyedId : null) ?? newId<RequestId>();
  await lockNumbers(sql, siteId, from, to);
  const owner = await accountOfNumber(sql, from);
  // Otherwise a reply could reach an operator of another account.
  if (owner !== null && owner !== accountId)
    throw invalid([{ attribute: '/from_number', detail: 'is not a number of this account' }]);
  const existing = await visitorAtPhone(sql, siteId, to);
  const visitorId = existing ?? (await addVisitor(sql, input));
  const thread: SmsThread = { requestId, accountId, siteId, visitorId, operatorId, from, to };
  await insertThread(sql, thread);
  await insertRequestSms(sql, thread, input.body, 'prepared');
  return { thread, isNewVisitor: existing === null };
}

/** A refused request leaves nothing. The locks keep others from using the visitor meanwhile. */
async function unprepare(sql: Sql, { thread, isNewVisitor }: Prepared): Promise<void> {
  await lockNumbers(sql, thread.siteId, thread.from, thread.to);
  await dropPrepared(sql, thread.requestId);
  if (isNewVisitor) await dropVisitorWithoutThread(sql, thread);
}

async function addVisitor(sql: Sql, { accountId, siteId, to: phone }: OutboundInput): Promise<VisitorId> {
  const id = newId<VisitorId>();
  await insertVisitor(sql, { id, accountId, siteId, name: null, teamIds: [], phone });
  return id;
}

async function createRequest(turns: Turns, thread: SmsThread, repeatable: boolean): Promise<RequestView | null> {
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
