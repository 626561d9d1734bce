import { randomUUID } from 'node:crypto';
import type { Action } from './action.ts';
import { chance, pick } from './chance.ts';
import type { Answer, ApiRequest, Host } from './host.ts';
import { presenceSec } from './plan.ts';

/**
 * Carries out one action. A refusal is a normal answer: another request came first, or the queue is closed. `false`: the server failed,
 * and the action may be retried.
 */
export async function act(action: Action, host: Host): Promise<boolean> {
  const answer = action.do === 'arrive' ? await arrive(action, host) : await host.send(requestOf(action));
  return answer === null || answer.status < 500;
}

function requestOf(action: Exclude<Action, { do: 'arrive' }>): ApiRequest {
  switch (action.do) {
    case 'set presence': {
      const { operatorId: id, available, media, reason } = action;
      const body = { available, media, reason, expires_in_sec: available ? presenceSec : null };
      return { as: { kind: 'operator', id }, method: 'PUT', path: `/operators/${id}/presence`, body };
    }
    case 'abandon': {
      const as = { kind: 'visitor', id: action.visitorId } as const;
      const path = `/queue_tickets/${action.ticketId}`;
      return { as, method: 'PATCH', path, body: { action: 'cancel' } };
    }
    case 'answer': {
      const { as, requestId, answer } = action;
      const path = `/${action.transfer ? 'transfer' : 'engagement'}_requests/${requestId}`;
      return { as, method: 'PATCH', path, body: { action: answer } };
    }
    default:
      return { as: action.as, ...inEngagement(action) };
  }
}

type EngagementAction = Extract<Action, { engagementId: unknown }>;

function inEngagement(action: EngagementAction): Omit<ApiRequest, 'as'> {
  const base = `/engagements/${action.engagementId}`;
  switch (action.do) {
    case 'type':
      return { method: 'PUT', path: `${base}/typing_indicator`, body: { typing: true } };
    case 'send':
      return { method: 'PUT', path: `${base}/chat_messages/${randomUUID()}`, body: messageOf(action) };
    case 'acknowledge':
      return {
        method: 'PATCH',
        path: `${base}/chat_messages/${action.messageId}`,
        body: { status: 'delivered' },
      };
    case 'request audio':
      return { method: 'POST', path: `${base}/media_upgrade_requests`, body: { audio: 'two_way', video: null } };
    case 'accept upgrade':
      return {
        method: 'PATCH',
        path: `${base}/media_upgrade_requests/${action.upgradeId}`,
        body: { action: 'accept' },
      };
    case 'transfer': {
      const { engagementId: engagement_id, queueId: queue_id, media } = action;
      return { method: 'POST', path: '/transfer_tickets', body: { engagement_id, queue_id, media } };
    }
    case 'end':
      return { method: 'PATCH', path: base, body: { action: 'end' } };
  }
}

function messageOf({ content, offers, chooses }: Extract<EngagementAction, { do: 'send' }>): object {
  if (chooses !== undefined)
    return { content, attachment: { type: 'single_choice_response', selected_option: chooses } };
  return offers === undefined ? { content } : { content, attachment: { type: 'single_choice', options: offers } };
}

const cities = ['Aarhus', 'Bologna', 'Cork', 'Dakar', 'Esbjerg', 'Fukuoka', 'Ghent', 'Hanoi'] as const;
const plans = ['basic', 'plus', 'gold'] as const;

async function arrive(
  { name, media, queueId, teams, key }: Extract<Action, { do: 'arrive' }>,
  host: Host,
): Promise<Answer | null> {
  const { siteId, operatorIds, visitorMark } = host;
  const [greeter] = operatorIds;
  if (greeter === undefined) throw new Error('the sample data has no operators');
  const byGreeter = { kind: 'operator', id: greeter } as const;
  const visitor = { site_id: siteId, name, team_ids: teams };
  const created = await host.send({ as: byGreeter, method: 'POST', path: '/visitors', body: visitor });
  const id = created?.body['id'];
  if (typeof id !== 'string') return created;
  const details = {
    external_id: `${visitorMark}${id}`,
    email: `${name.toLowerCase()}.${id.slice(0, 4)}@example.com`.normalize('NFD').replaceAll(/[^\x21-\x7e]/g, ''),
    custom_attributes: {
      city: pick(cities, chance(0, key, 'city')),
      plan: pick(plans, chance(0, key, 'plan')),
      cart: `${Math.floor(chance(0, key, 'cart') * 300)} EUR`,
    },
  };
  const path = `/sites/${siteId}/visitors/${id}`;
  const marked = await host.send({ as: byGreeter, method: 'PATCH', path, body: details });
  // Without the mark the visitor counts as real, and no simulation acts for them.
  if (marked?.status !== 200) return marked;
  const body = { site_id: siteId, media, queue_id: queueId };
  return host.send({ as: { kind: 'visitor', id }, method: 'POST', path: '/queue_tickets', body });
}
