import { describeCarrierSettings } from '../../carriers/carriers.ts';
import { operatorOf } from '../../identity/access.ts';
import { invalid, Refusal } from '../../platform/errors.ts';
import type { App } from '../../platform/http/http.ts';
import { keyedIdOf } from '../../platform/http/idempotency.ts';
import type { RequestId } from '../../platform/ids.ts';
import { requestOutput, showRequest } from '../requests/request.ts';
import { sendOutbound } from './send-outbound.ts';
import type { SmsService } from './service.ts';
import { smsInput } from './sms.ts';

/** `null`: no carrier is configured. */
export function smsRoutes(app: App, sms: SmsService | null): void {
  app.post(
    '/outbound_sms',
    {
      config: { access: { operator: 'operator', site: 'body.site_id' }, audit: 'own work' },
      schema: {
        tags: ['Engagement requests'],
        summary: 'Request an engagement by SMS: the reply accepts it and becomes the first message',
        description:
          'The visitor is the one who last received an SMS at that number, or a new one. The request waits for 72 hours and does not occupy the operator. If the carrier does not deliver the SMS, the request fails with the reason error.',
        body: smsInput,
        response: { 201: requestOutput },
      },
    },
    async (request, reply) => {
      const { site_id: siteId, from_number: from, to_number: to, message: body } = request.body;
      if (sms === null) throw noCarrier();
      if (from === to) throw invalid([{ attribute: '/to_number', detail: 'must differ from from_number' }]);
      const { accountId, operatorId } = operatorOf(request);
      const keyedId = keyedIdOf<RequestId>(request);
      const input = { accountId, siteId, operatorId, from, to, body, keyedId };
      const made = showRequest(await sendOutbound(sms.sql, sms.turns, input));
      sms.wake();
      reply.code(201).header('location', `/engagement_requests/${made.id}`);
      return made;
    },
  );
}

function noCarrier(): Refusal {
  return new Refusal('no_carrier', `No SMS carrier is configured. Set ${describeCarrierSettings()} and restart Usher.`);
}
