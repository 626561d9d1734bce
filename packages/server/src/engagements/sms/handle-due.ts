import { inTransaction, violatedConstraint, type Sql } from '../../platform/database/database.ts';
import { Refusal } from '../../platform/errors.ts';
import type { Turns } from '../../routing/turns.ts';
import type { Carrier } from '../../carriers/carrier.ts';
import { putReply } from './chat.ts';
import type { SmsMetrics } from './metrics.ts';
import { isOptOut, type Due, type DueInbound, type DueOutbound } from './sms.ts';
import {
  dropPrepared,
  findReplyTarget,
  postpone,
  queuePrepared,
  recordFailed,
  recordFailing,
  recordSent,
  recordTaken,
  recordUnclaimed,
} from './store.ts';

export interface SmsContext {
  readonly sql: Sql;
  readonly turns: Turns;
  readonly carrier: Carrier;
  readonly metrics: SmsMetrics;
  /** Called after a commit outside of a turn, so that subscribers of the account's log are notified. */
  readonly onCommitted: (accountId: Due['accountId']) => void;
}

/** Attempts to hand one SMS to the carrier, over about nine minutes. After the last one the SMS has failed. */
const maxAttempts = 10;
const firstDelayMs = 1_000;
const maxDelayMs = 300_000;
/** Delays vary by this share in both directions, so that SMS that failed together are not retried together. */
const jitter = 0.2;
/** When a prepared SMS is checked again if its request does not exist yet. */
const preparedDelayMs = 10_000;

/** Processes a due SMS that this process has claimed. If it throws or hangs, another process retries when the lease expires. */
export async function handleDue(context: SmsContext, due: Due, stopping: AbortSignal): Promise<void> {
  if (due.direction === 'inbound') {
    context.metrics.inbound(await takeReply(context, due));
    return;
  }
  switch (due.state) {
    case 'prepared':
      return handlePrepared(context, due);
    case 'queued':
    case 'sending':
      return send(context, due, stopping);
    case 'failing':
      return failRequest(context, due);
    case 'sent':
    case 'delivered':
    case 'failed':
      throw new Error(`an SMS in the state ${due.state} was due`);
  }
}

async function handlePrepared({ sql }: SmsContext, { id, requestId, requestState, isOld }: DueOutbound): Promise<void> {
  if (requestState !== null) await queuePrepared(sql, id);
  else if (isOld) await dropPrepared(sql, requestId);
  else await postpone(sql, id, preparedDelayMs);
}

const endedBefore = 'The request ended before the SMS was sent.';

async function send({ sql, carrier, metrics }: SmsContext, due: DueOutbound, stopping: AbortSignal): Promise<void> {
  const { id, isRequest, requestState, attempts } = due;
  // The request has ended, so the SMS is not sent.
  if (isRequest && requestState === 'failed') return recordFailing(sql, id, endedBefore, 'sender');
  const result = await carrier.send(due, stopping);
  switch (result.outcome) {
    case 'sent':
      metrics.sent('sent');
      return recordSentOnce(sql, id, result.sid);
    case 'refused':
      metrics.sent('refused');
      return recordFailing(sql, id, result.why, 'sender');
    case 'postponed':
      metrics.sent('postponed');
      if (attempts >= maxAttempts && !stopping.aborted) return recordFailing(sql, id, result.why, 'sender');
      return postpone(sql, id, Math.max(delayMs(attempts), result.afterMs ?? 0));
  }
}

/** If the carrier reuses an id, records the SMS without it: an error here would send the SMS again. */
async function recordSentOnce(sql: Sql, id: DueOutbound['id'], sid: string | null): Promise<void> {
  try {
    await recordSent(sql, id, sid);
  } catch (error) {
    if (violatedConstraint(error) !== 'sms_messages_carrier_sid') throw error;
    await recordSent(sql, id, null);
  }
}

function delayMs(attempts: number): number {
  const delay = Math.min(firstDelayMs * 2 ** (attempts - 1), maxDelayMs);
  return delay * (1 - jitter + 2 * jitter * Math.random());
}

/** Fails the request if it is still pending, as a cancellation by the operator who made it. */
async function failRequest({ sql, turns }: SmsContext, due: DueOutbound): Promise<void> {
  const { id, accountId, requestId, operatorId, isRequest, error } = due;
  const by = { kind: 'operator', id: operatorId } as const;
  if (isRequest)
    await turns.run(accountId, { name: 'answer', requestId, action: 'cancel', by, error: { message: error } });
  await recordFailed(sql, id);
}

/** A reply accepts the request or continues the engagement. In both cases it becomes a chat message. */
async function takeReply(
  context: SmsContext,
  due: DueInbound,
): Promise<'accepted' | 'message' | 'declined' | 'unclaimed'> {
  const { sql, turns } = context;
  const { id, accountId, requestId, visitorId } = due;
  const target = await findReplyTarget(sql, requestId);
  const wasPending = target?.state === 'pending';
  if (wasPending) {
    const action = isOptOut(due.body) ? 'decline' : 'accept';
    const by = { kind: 'visitor', id: visitorId } as const;
    await turns.run(accountId, { name: 'answer', requestId, action, by, error: null });
  }
  // Another reply or the operator may have answered first, so the request is read again.
  const now = wasPending ? await findReplyTarget(sql, requestId) : target;
  const engagementId = now?.state === 'accepted' ? now.engagementId : null;
  if (engagementId !== null && (await addToEngagement(context, due, engagementId)))
    return wasPending ? 'accepted' : 'message';
  await recordUnclaimed(sql, id);
  return wasPending && isOptOut(due.body) ? 'declined' : 'unclaimed';
}

/** Adds the reply to the engagement. `false`: the engagement has ended. */
async function addToEngagement(
  { sql, onCommitted }: SmsContext,
  { id, accountId, visitorId, body: content }: DueInbound,
  engagementId: NonNullable<NonNullable<Awaited<ReturnType<typeof findReplyTarget>>>['engagementId']>,
): Promise<boolean> {
  try {
    await inTransaction(sql, async (own) => {
      await putReply(own, { accountId, engagementId, id, visitorId, content });
      await recordTaken(own, id, engagementId);
    });
  } catch (error) {
    if (error instanceof Refusal) return false;
    throw error;
  }
  onCommitted(accountId);
  return true;
}
