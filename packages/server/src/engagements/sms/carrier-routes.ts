import type { FastifyRequest } from 'fastify';
import { Refusal } from '../../platform/errors.ts';
import type { App } from '../../platform/http.ts';
import { isUuid, newId } from '../../platform/ids.ts';
import type { SmsService } from './service.ts';
import { isSigned } from './signature.ts';
import { contentOf, type SmsId } from './sms.ts';
import { findLiveThread, insertInbound } from './store.ts';
import { takeReceipt } from './take-receipt.ts';
import { inboundPath, receiptIn, sidIn, statusPath } from './twilio.ts';

/** What the carrier sends is a few hundred bytes, and a long reply with all its fields a few thousand. */
const bodyLimit = 65_536;
/** Nothing is answered by SMS. */
const emptyTwiml = '<?xml version="1.0" encoding="UTF-8"?><Response></Response>';

const shared = {
  bodyLimit,
  config: { access: { public: true, shows: 'the signature of the carrier' }, audit: 'no operator' },
  schema: { hide: true },
} as const;

/**
 * What the carrier calls: receipts and replies. Its signature stands for a token, and nothing is looked at before it. Of what
 * is signed but not ours it hears nothing, because it can do nothing about it. Forms are taken here and nowhere else.
 */
export async function carrierRoutes(app: App, sms: SmsService): Promise<void> {
  await app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser(
      'application/x-www-form-urlencoded',
      { parseAs: 'string', bodyLimit },
      (_request, body, done) => done(null, new URLSearchParams(String(body))),
    );
    scope.addHook('onRequest', (request, _reply, done) => {
      done(signatureOf(request) === null ? forged(sms) : undefined);
    });

    scope.post(statusPath, shared, async (request, reply) => {
      const form = signedForm(sms, request, statusPath);
      const receipt = receiptIn(form.get('MessageStatus') ?? form.get('SmsStatus'), form.get('ErrorCode'));
      sms.metrics.receipt(receipt?.kind ?? 'unknown');
      if (receipt !== null) {
        const { id = '' } = request.query as { id?: unknown };
        const sid = sidIn(form.get('MessageSid') ?? form.get('SmsSid'));
        const ours = typeof id === 'string' && isUuid(id) ? id : null;
        const accountId = await takeReceipt(sms.sql, { id: ours, sid, receipt });
        if (accountId !== null) {
          sms.tell(accountId);
          sms.wake();
        }
      }
      reply.code(204);
    });

    scope.post(inboundPath, shared, async (request, reply) => {
      const form = signedForm(sms, request, inboundPath);
      await takeInbound(sms, form);
      reply.type('text/xml; charset=utf-8');
      return emptyTwiml;
    });
  });
}

function signatureOf({ headers }: FastifyRequest): string | null {
  const given = headers['x-twilio-signature'];
  return typeof given === 'string' && given !== '' ? given : null;
}

function forged({ metrics }: SmsService): Refusal {
  metrics.receipt('forged');
  return new Refusal('forbidden', 'The carrier has not signed this.');
}

/** The address is the one we gave the carrier: what a proxy made of it on the way does not matter. */
function signedForm(sms: SmsService, request: FastifyRequest, path: string): URLSearchParams {
  const { authToken, publicUrl } = sms.settings;
  const form = request.body instanceof URLSearchParams ? request.body : new URLSearchParams();
  const queryAt = request.url.indexOf('?');
  const url = `${publicUrl}${path}${queryAt === -1 ? '' : request.url.slice(queryAt)}`;
  if (!isSigned(authToken, { url, form, signature: signatureOf(request) ?? '' })) throw forged(sms);
  return form;
}

/** Kept first, whatever happens next; what is to be done about it any process does. */
async function takeInbound({ sql, metrics, wake }: SmsService, form: URLSearchParams): Promise<void> {
  const sid = sidIn(form.get('MessageSid') ?? form.get('SmsSid'));
  const [from, to] = [form.get('From') ?? '', form.get('To') ?? ''];
  const thread = sid === null || hasNul(from) || hasNul(to) ? null : await findLiveThread(sql, to, from);
  if (sid === null || thread === null) {
    metrics.inbound('unclaimed');
    return;
  }
  const body = contentOf(form.get('Body') ?? '', Number(form.get('NumMedia') ?? 0));
  if (await insertInbound(sql, { id: newId<SmsId>(), thread, sid, body })) wake();
}

/** PostgreSQL cannot be asked for it. */
function hasNul(text: string): boolean {
  return text.includes('\0');
}
