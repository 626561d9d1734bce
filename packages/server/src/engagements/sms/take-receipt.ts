import { appendEvent } from '../../events/append.ts';
import { inTransaction, type Sql } from '../../platform/database/database.ts';
import type { AccountId } from '../../platform/ids.ts';
import type { Receipt, ReceiptCall } from '../../carriers/carrier.ts';
import { acknowledgeForVisitor } from './chat.ts';
import { afterReceipt } from './sms.ts';
import {
  hasArrived,
  lockChatMessage,
  lockOutbound,
  recordDelivered,
  recordFailing,
  recordSent,
  type OutboundSms,
} from './store.ts';

type ReceiptToApply = ReceiptCall & { readonly receipt: Receipt };

/** Applies a receipt: changes the SMS and appends the event in one transaction, under the row's lock. Returns the account if the SMS changed. */
export async function takeReceipt(sql: Sql, { id, sid, receipt }: ReceiptToApply): Promise<AccountId | null> {
  return inTransaction(sql, async (own) => {
    const sms =
      (id === null ? null : await lockOutbound(own, id, null)) ??
      (sid === null ? null : await lockOutbound(own, null, sid));
    const next = sms === null ? null : afterReceipt(sms.state, receipt);
    if (sms === null || next === null) return null;
    if (next === 'sent') await recordSent(own, sms.id, null);
    else if (next === 'failing')
      await recordFailing(own, sms.id, receipt.kind === 'failed' ? receipt.why : '', 'receipt');
    else await deliver(own, sms);
    return sms.accountId;
  });
}

async function deliver(sql: Sql, sms: OutboundSms): Promise<void> {
  const { id, accountId, requestId, siteId, visitorId, operatorId, engagementId, chatMessageId } = sms;
  if (chatMessageId !== null) await lockChatMessage(sql, chatMessageId);
  await recordDelivered(sql, id);
  if (chatMessageId === null)
    await appendEvent(sql, {
      accountId,
      type: 'engagement.request.deliver',
      about: { siteId, requestId, visitorId, operatorId },
      fields: {
        engagement_request: { id: requestId, site_id: siteId, visitor_id: visitorId, operator_id: operatorId },
      },
    });
  else if (engagementId !== null && (await hasArrived(sql, engagementId, chatMessageId)))
    await acknowledgeForVisitor(sql, { accountId, engagementId, id: chatMessageId });
}
