import type { Problem } from '@usher/client/api-types';

/** What a site has or what goes on there, as refusals to delete it name it: one and several. */
const names: Readonly<Record<string, readonly [string, string]>> = {
  operators: ['other operator loses their role here', 'other operators lose their role here'],
  teams: ['team', 'teams'],
  queues: ['queue', 'queues'],
  fallbacks: [
    'queue of another site that overflows to a queue here',
    'queues of other sites that overflow to a queue here',
  ],
  scheduling_policies: ['set of hours', 'sets of hours'],
  phone_channels: ['phone channel', 'phone channels'],
  digital_channels: ['messaging channel', 'messaging channels'],
  application_tokens: ['application token', 'application tokens'],
  identity_providers: ['identity provider', 'identity providers'],
  sip_domains: ['SIP domain', 'SIP domains'],
  webhooks: ['webhook no longer receives events of this site', 'webhooks no longer receive events of this site'],
  visitors: ['visitor', 'visitors'],
  engagements: ['conversation, with its messages and files', 'conversations, with their messages and files'],
  waiting_visitors: ['waiting visitor', 'waiting visitors'],
  pending_requests: ['unanswered request', 'unanswered requests'],
  active_engagements: ['active conversation', 'active conversations'],
};

/** `3 queues`, `1 team`; what this version does not know is left out. */
export function contentsInWords(details: Problem['details']): string[] {
  return details.flatMap(({ attribute, detail }) => {
    const [one, several] = names[attribute.slice(1)] ?? [];
    return one === undefined ? [] : [`${detail} ${detail === '1' ? one : several}`];
  });
}
