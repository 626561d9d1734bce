import type { AuditEntry } from '@usher/sdk/api-types';
import { texts } from './texts.ts';

type Change = AuditEntry['changes'][number];

/** All actions, as the predicate of a sentence about the actor. */
const actions: Readonly<Record<string, string>> = {
  'access_token.create': texts.createdAccessToken,
  'access_token.delete': texts.deletedAccessToken,
  'api_key.create': texts.createdApiKeyFor,
  'api_key.delete': texts.deletedApiKeyOf,
  'application_token.create': texts.createdApplicationToken,
  'application_token.delete': texts.deletedApplicationToken,
  'delivery.replay': texts.replayedDelivery,
  'digital_channel.create': texts.createdChannel,
  'digital_channel.delete': texts.deletedChannel,
  'digital_channel.update': texts.changedChannel,
  'file.delete': texts.deletedFile,
  'file.scan': texts.setScanResultOfFile,
  'invitation.create': texts.invited,
  'invitation.withdraw': texts.revokedInvitationOf,
  'operator.create': texts.addedOperator,
  'operator.disable': texts.disabledOperator,
  'operator.presence': texts.setAvailabilityOf,
  'operator.update': texts.changedOperator,
  'operator_picture.delete': texts.removedPictureOf,
  'operator_picture.update': texts.setPictureOf,
  'phone_channel.create': texts.createdPhoneChannel,
  'phone_channel.delete': texts.deletedPhoneChannel,
  'phone_channel.update': texts.changedPhoneChannel,
  'queue.create': texts.createdQueue,
  'queue.delete': texts.deletedQueue,
  'queue.rank': texts.rankedOperatorsOfQueue,
  'queue.update': texts.changedQueue,
  'queue_ticket.cancel': texts.removedVisitorFromQueue,
  'sample_data.create': texts.createdSampleData,
  'sample_data.remove': texts.deletedSampleData,
  'sample_data.update': texts.startedOrStoppedSampleData,
  'scheduling_policy.create': texts.createdHours,
  'scheduling_policy.delete': texts.deletedHours,
  'scheduling_policy.update': texts.changedHours,
  'sip_domain.create': texts.addedSipDomain,
  'sip_domain.delete': texts.deletedSipDomain,
  'site.create': texts.createdSite,
  'site.delete': texts.deletedSite,
  'site.update': texts.changedSite,
  'team.create': texts.createdTeam,
  'team.delete': texts.deletedTeam,
  'team.update': texts.changedTeam,
  'visitor.create': texts.createdVisitor,
  'visitor.update': texts.changedVisitor,
  'visitor_authentication_provider.create': texts.addedIdentityProvider,
  'visitor_authentication_provider.delete': texts.deletedIdentityProvider,
  'webhook.create': texts.createdWebhook,
  'webhook.delete': texts.deletedWebhook,
  'webhook.recover': texts.recoveredDeliveriesOfWebhook,
  'webhook.rotate_secret': texts.rotatedSecretOfWebhook,
  'webhook.test': texts.sentTestEventToWebhook,
  'webhook.update': texts.changedWebhook,
};

export const allActions: readonly string[] = Object.keys(actions);
export const allResourceTypes: readonly string[] = [...new Set(allActions.map((action) => action.split('.')[0] ?? ''))];

/** An action of a later version is shown by its code. */
export function describeAction(action: string): string {
  return actions[action] ?? action;
}

/** `max_engagement_count` → `max engagement count`. */
export function spaced(name: string): string {
  return name.replaceAll('_', ' ');
}

const uuid = /[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}/g;

/** A value for people: known ids are replaced by names. */
export function formatValue(value: unknown, names: ReadonlyMap<string, string>): string {
  if (value === null || value === undefined || value === '') return texts.nothing;
  if (typeof value === 'boolean') return value ? texts.yes : texts.no;
  if (typeof value === 'string') return value.replaceAll(uuid, (id) => names.get(id) ?? id);
  if (typeof value !== 'object') return JSON.stringify(value);
  if (Array.isArray(value))
    return value.length === 0 ? texts.nothing : value.map((each) => nested(each, names)).join(', ');
  return Object.entries(value)
    .map(([field, each]) => `${spaced(field)}: ${nested(each, names)}`)
    .join(', ');
}

function nested(value: unknown, names: ReadonlyMap<string, string>): string {
  const text = formatValue(value, names);
  return typeof value === 'object' && value !== null && text.includes(', ') ? `(${text})` : text;
}

/** The page of the resource in the console; `null` if it has none or was deleted. */
export function pageOf({ action, target, changes }: Pick<AuditEntry, 'action' | 'target' | 'changes'>): string | null {
  const owner = ownerOf(changes);
  if (['access_token', 'api_key', 'invitation'].includes(target.type))
    return owner === null ? null : `/people/${owner}`;
  if (target.type === 'operator_picture') return `/people/${target.id}`;
  if (action.endsWith('.delete')) return null;
  const pages: Readonly<Record<string, string>> = {
    operator: `/people/${target.id}`,
    team: '/people/teams',
    site: `/sites/${target.id}`,
    queue: `/queues/${target.id}`,
    scheduling_policy: `/hours/${target.id}`,
    webhook: `/webhooks/${target.id}`,
  };
  return pages[target.type] ?? null;
}

/** The operator who owns the key, token or invitation. */
export function ownerOf(changes: readonly Change[]): string | null {
  const found = changes.find(({ field }) => field === 'operator_id');
  const id = found?.after ?? found?.before;
  return typeof id === 'string' ? id : null;
}

/** The cursor in the URL of the next page. */
export function cursorOf(nextPage: string | null): string | null {
  return nextPage === null || !URL.canParse(nextPage) ? null : new URL(nextPage).searchParams.get('cursor');
}

/** The value of a `datetime-local` input as an instant; an invalid value sets no limit. */
export function instantOf(local: string): string | undefined {
  const date = new Date(local);
  return local === '' || Number.isNaN(date.getTime()) ? undefined : date.toISOString();
}
