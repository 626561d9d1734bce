import { inTransaction, violatedConstraint, type Sql } from '../../platform/database.ts';
import { Refusal } from '../../platform/errors.ts';
import type { Turns } from '../../routing/turns.ts';
import type { Carrier } from './carrier.ts';
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

export interface Parts {
  readonly sql: Sql;
  readonly turns: Turns;
  readonly carrier: Carrier;
  readonly metrics: SmsMetrics;
  /** Something of the account was committed that no turn has told of. */
  readonly tell: (accountId: Due['accountId']) => void;
}

/** So often is one SMS handed to the carrier, over about nine minutes; then it has failed. */
const mostAttempts = 10;
const firstPauseMs = 1_000;
const longestPauseMs = 300_000;
/** Pauses differ by up to this share either way, so that what failed together does not come back together. */
const jitter = 0.2;
/** How soon a prepared SMS is looked at again whose request is not there yet. */
const preparedPauseMs = 10_000;

/** Does what is due about an SMS that this process has claimed. If it throws, or never ends, another does after the lease. */
export async function handleDue(parts: Parts, due: Due, stopping: AbortSignal): Promise<void> {
  if (due.direction === 'inbound') {
    parts.metrics.inbound(await takeReply(parts, due));
    return;
  }
  switch (due.state) {
    case 'prepared':
      return settlePrepared(parts, due);
    case 'queued':
    case 'sending':
      return send(parts, due, stopping);
    case 'failing':
      return tellRequest(parts, due);
    case 'sent':
    case 'delivered':
    case 'failed':
      throw new Error(`an SMS that is ${due.state} was due`);
  }
}

async function settlePrepared({ sql }: Parts, { id, requestId, requestState, isOld }: DueOutbound): Promise<void> {
  if (requestState !== null) await queuePrepared(sql, id);
  else if (isOld) await dropPrepared(sql, requestId);
  else await postpone(sql, id, preparedPauseMs);
}

const endedBefore = 'The request had ended before it was sent.';

async function send({ sql, carrier, metrics }: Parts, due: DueOutbound, stopping: AbortSignal): Promise<void> {
  const { id, asks, requestState, attempts } = due;
  // Nobody wants an answer any more.
  if (asks && requestState === 'failed') return recordFailing(sql, id, endedBefore, 'sender');
  const sending = await carrier.send(due, stopping);
  switch (sending.outcome) {
    case 'sent':
      metrics.sent('sent');
      return remember(sql, id, sending.sid);
    case 'refused':
      metrics.sent('refused');
      return recordFailing(sql, id, sending.why, 'sender');
    case 'postponed':
      metrics.sent('postponed');
      if (attempts >= mostAttempts && !stopping.aborted) return recordFailing(sql, id, sending.why, 'sender');
      return postpone(sql, id, Math.max(pauseMs(attempts), sending.afterMs ?? 0));
  }
}

/** A carrier that gives an id twice must not make us send twice. */
async function remember(sql: Sql, id: DueOutbound['id'], sid: string | null): Promise<void> {
  try {
    await recordSent(sql, id, sid);
  } catch (error) {
    if (violatedConstraint(error) !== 'sms_messages_carrier_sid') throw error;
    await recordSent(sql, id, null);
  }
}

function pauseMs(attempts: number): number {
  const pause = Math.min(firstPauseMs * 2 ** (attempts - 1), longestPauseMs);
  return pause * (1 - jitter + 2 * jitter * Math.random());
}

/** It fails if it is still pending; the operator who asked is who calls it off. */
async function tellRequest({ sql, turns }: Parts, due: DueOutbound): Promise<void> {
  const { id, accountId, requestId, operatorId, asks, error } = due;
  const by = { kind: 'operator', id: operatorId } as const;
  if (asks) await turns.run(accountId, { name: 'answer', requestId, action: 'cancel', by, error: { message: error } });
  await recordFailed(sql, id);
}

/** A reply accepts the request, or is a further message of the engagement; either way it becomes a chat message. */
async function takeReply(parts: Parts, due: DueInbound): Promise<'accepted' | 'message' | 'declined' | 'unclaimed'> {
  const { sql, turns } = parts;
  const { id, accountId, requestId, visitorId } = due;
  const target = await findReplyTarget(sql, requestId);
  const wasPending = target?.state === 'pending';
  if (wasPending) {
    const action = isOptOut(due.body) ? 'decline' : 'accept';
    const by = { kind: 'visitor', id: visitorId } as const;
    await turns.run(accountId, { name: 'answer', requestId, action, by, error: null });
  }
  // Another reply, or its operator, may have been faster: what it is now counts.
  const now = wasPending ? await findReplyTarget(sql, requestId) : target;
  const engagementId = now?.state === 'accepted' ? now.engagementId : null;
  if (engagementId !== null && (await takeInto(parts, due, engagementId))) return wasPending ? 'accepted' : 'message';
  await recordUnclaimed(sql, id);
  return wasPending && isOptOut(due.body) ? 'declined' : 'unclaimed';
}

/** `false`: the engagement has ended. */
async function takeInto(
  { sql, tell }: Parts,
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
  tell(accountId);
  return true;
}
