import { ApnsSender } from './apns/sender.ts';
import { parseApnsUrl, type ApnsTarget } from './apns/url.ts';
import type { Channel } from './channel.ts';

/** Sends one push notification per event, by Apple's service. */
export const apns = {
  kind: 'apns',
  schemes: ['apns'],
  urlName: 'an apns URL',
  urlForm: 'apns://<device_token>@<topic>?env=sandbox|production',
  isAttachable: true,
  fields: {},
  requiredFields: [],
  unsigned: 'Push notifications are not signed: the webhook has no secret to rotate.',
  endsBecause: 'token_ended',
  urlFaults(url) {
    const target = parseApnsUrl(url);
    return 'faults' in target ? target.faults : [];
  },
  violations: () => [],
  originOf: (url) => `apns://${targetOf(url).environment}`,
  addressOf: () => null,
  open({ settings, sql, sealer, lookup }) {
    const sender = new ApnsSender({ settings: settings.apns, sql, sealer, lookup });
    return {
      senderFor({ url, registeredAt }) {
        const target = targetOf(url);
        return async (event) => sender.send({ target, registeredAt, event });
      },
      // Connections to Apple are shared by all accounts.
      closeDestination: () => undefined,
      close: () => sender.close(),
    };
  },
} satisfies Channel;

function targetOf(url: string): ApnsTarget {
  const target = parseApnsUrl(url);
  if ('faults' in target) throw new Error('the stored apns URL is invalid');
  return target;
}
