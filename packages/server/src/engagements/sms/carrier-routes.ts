import type { FastifyReply, FastifyRequest } from 'fastify';
import { Refusal } from '../../platform/errors.ts';
import type { App } from '../../platform/http/http.ts';
import { isUuid, newId } from '../../platform/ids.ts';
import type { Hook, InboundCall, ReceiptCall } from '../../carriers/carrier.ts';
import type { SmsService } from './service.ts';
import { contentOf, type SmsId } from './sms.ts';
import { findActiveThread, insertInbound } from './store.ts';
import { takeReceipt } from './take-receipt.ts';

/** A carrier's request usually has a few hundred bytes; a long reply with all its fields has a few thousand. */
const bodyLimit = 65_536;

const shared = {
  bodyLimit,
  config: { access: { public: true, shows: 'the signature of the carrier' }, audit: 'no operator' },
  schema: { hide: true },
} as const;

type ReceivingService = Pick<SmsService, 'carrier' | 'sql' | 'metrics' | 'onCommitted' | 'wake'>;

/**
 * Routes that the carrier calls with receipts and replies. The carrier's signature replaces a token, so it is checked first. A signed
 * request that matches no SMS of ours gets the normal answer, because the carrier cannot do anything about it.
 */
export async function carrierRoutes(app: App, sms: ReceivingService): Promise<void> {
  const { carrier } = sms;
  await app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser(carrier.contentType, { parseAs: 'string', bodyLimit }, (_request, body, done) =>
      done(null, body),
    );
    scope.addHook('onRequest', (request, _reply, done) => {
      done(carrier.carriesSignature(request.headers) ? undefined : forged(sms));
    });
    const addHook = <Call>(hook: Hook<Call>, take: (sms: ReceivingService, call: Call) => Promise<void>): void => {
      scope.post(hook.path, shared, async (request, reply) => {
        const call = hook.read(hookRequest(request));
        if (call === null) throw forged(sms);
        await take(sms, call);
        return answer(reply, hook);
      });
    };
    addHook(carrier.receipts, takeReceiptCall);
    addHook(carrier.inbound, takeInboundCall);
  });
}

function hookRequest({ headers, url, body }: FastifyRequest) {
  const queryAt = url.indexOf('?');
  return { headers, query: queryAt === -1 ? '' : url.slice(queryAt), body: typeof body === 'string' ? body : '' };
}

function forged({ metrics }: ReceivingService): Refusal {
  metrics.receipt('forged');
  return new Refusal('forbidden', 'The request has no valid signature of the carrier.');
}

function answer(reply: FastifyReply, hook: Pick<Hook<unknown>, 'answer'>): string | undefined {
  if (hook.answer === null) void reply.code(204);
  else void reply.type(hook.answer.contentType);
  return hook.answer?.body;
}

async function takeReceiptCall(sms: ReceivingService, { id, sid, receipt }: ReceiptCall): Promise<void> {
  sms.metrics.receipt(receipt?.kind ?? 'unknown');
  if (receipt === null) return;
  const accountId = await takeReceipt(sms.sql, { id: id !== null && isUuid(id) ? id : null, sid, receipt });
  if (accountId === null) return;
  sms.onCommitted(accountId);
  sms.wake();
}

/** Stores the SMS first; any process then handles it (`handle-due.ts`). */
async function takeInboundCall({ sql, metrics, wake }: ReceivingService, call: InboundCall): Promise<void> {
  const { sid, from, to, text, mediaCount } = call;
  const thread = sid === null || hasNul(from) || hasNul(to) ? null : await findActiveThread(sql, to, from);
  if (sid === null || thread === null) {
    metrics.inbound('unclaimed');
    return;
  }
  const body = contentOf(text, mediaCount);
  if (await insertInbound(sql, { id: newId<SmsId>(), thread, sid, body })) wake();
}

/** PostgreSQL rejects text that contains NUL. */
function hasNul(text: string): boolean {
  return text.includes('\0');
}
