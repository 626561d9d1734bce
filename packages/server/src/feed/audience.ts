import { atLeast } from '@usher/contract/roles';
import type { ReceivedSignal } from '../engagements/signals/pieces.ts';
import type { About } from '../events/append.ts';
import type { Caller } from '../identity/caller.ts';
import type { SiteId } from '../platform/ids.ts';
import { isForVisitors } from './catalogue.ts';

/**
 * Who may see what, as keys: a caller has keys, an item has keys, and the caller sees the item if they share one. So the readers
 * of an item are found by lookup, without testing each reader.
 */
export type Key = string;

const visitorKey = (visitor: string): Key => `visitor ${visitor}`;
const operatorKey = (operator: string, site: string): Key => `operator ${operator} on ${site}`;
const managerKey = (site: string): Key => `manager on ${site}`;
const siteKey = (site: string, kind: 'visitor' | 'operator'): Key => `${kind}s on ${site}`;

/** Operators see their own items on the sites of their token, managers all items of their sites, visitors their own items. */
export function keysOf(caller: Caller): readonly Key[] {
  if (caller.kind === 'visitor') return [visitorKey(caller.visitorId), siteKey(caller.siteId, 'visitor')];
  if (caller.kind !== 'operator') return [];
  return Array.from(caller.roles, ([site, role]) => [
    operatorKey(caller.operatorId, site),
    siteKey(site, 'operator'),
    ...(atLeast(role, 'manager') ? [managerKey(site)] : []),
  ]).flat();
}

/** The keys of an item about a visitor and an operator on a site. */
export function opensTo(type: string, { siteId, visitorId, operatorId }: About): Key[] {
  const keys: Key[] = [];
  if (typeof visitorId === 'string' && isForVisitors(type)) keys.push(visitorKey(visitorId));
  if (typeof siteId !== 'string') return keys;
  if (typeof operatorId === 'string') keys.push(operatorKey(operatorId, siteId));
  keys.push(managerKey(siteId));
  return keys;
}

/** Whom an event about a webhook concerns. */
interface AboutWebhook {
  readonly webhook: { readonly site_ids: readonly string[]; readonly registered_by: string | null };
}

/** The keys of those who may see the webhook of the event, and of others: `maySeeWebhook` decides. */
export function opensToWebhook(payload: unknown): Key[] {
  const { site_ids: sites, registered_by: registrar } = (payload as AboutWebhook).webhook;
  return sites.flatMap((site) => [managerKey(site), ...(registrar === null ? [] : [operatorKey(registrar, site)])]);
}

/** As `GET /webhooks` (`webhooks/registrations/reach.ts`): super_managers of every site of the webhook, and its registrar. */
export function maySeeWebhook(caller: Caller, payload: unknown): boolean {
  if (caller.kind !== 'operator') return false;
  const { site_ids: sites, registered_by: registrar } = (payload as AboutWebhook).webhook;
  const { roles, limited, operatorId } = caller;
  return (!limited && registrar === operatorId) || sites.every((site) => roles.get(site as SiteId) === 'super_manager');
}

/** The key of one side of an engagement. */
export function opensToSide({ kind, id, siteId }: ReceivedSignal['to']): Key[] {
  return [kind === 'visitor' ? visitorKey(id) : operatorKey(id, siteId)];
}

/** The keys of the operator who had the engagement before a transfer, and of the managers of that operator's site. */
export function opensToPrevious(payload: unknown): Key[] {
  const { engagement } = payload as {
    engagement?: { previous_sub_engagement?: { operator_id: string; site_id: string } };
  };
  const previous = engagement?.previous_sub_engagement;
  if (previous === undefined) return [];
  return [operatorKey(previous.operator_id, previous.site_id), managerKey(previous.site_id)];
}

/** The key of all visitors, or all operators, of the site. */
export function opensToAll(siteId: string, kind: 'visitor' | 'operator'): Key[] {
  return [siteKey(siteId, kind)];
}

/** The keys of an operator on all their sites, and of the managers of these sites. */
export function opensToColleagues(operatorId: string, siteIds: readonly string[]): Key[] {
  return siteIds.flatMap((site) => [operatorKey(operatorId, site), managerKey(site)]);
}
