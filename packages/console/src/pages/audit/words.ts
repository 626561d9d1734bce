import type { AuditEntry } from '@usher/client/api-types';

type Change = AuditEntry['changes'][number];

/** Every action there is, and what its doer did. */
const actions: Readonly<Record<string, string>> = {
  'access_token.create': 'created the access token',
  'access_token.delete': 'deleted the access token',
  'api_key.create': 'created an API key for',
  'api_key.delete': 'deleted an API key of',
  'application_token.create': 'created an application token',
  'application_token.delete': 'deleted an application token',
  'delivery.replay': 'sent a delivery again',
  'digital_channel.create': 'created the channel',
  'digital_channel.delete': 'deleted the channel',
  'digital_channel.update': 'changed the channel',
  'file.delete': 'deleted a file',
  'file.scan': 'decided on a file',
  'invitation.create': 'invited',
  'invitation.withdraw': 'withdrew the invitation of',
  'operator.create': 'added the operator',
  'operator.disable': 'disabled the operator',
  'operator.presence': 'set the availability of',
  'operator.update': 'changed the operator',
  'operator_picture.delete': 'removed the picture of',
  'operator_picture.update': 'set the picture of',
  'phone_channel.create': 'created the phone channel',
  'phone_channel.delete': 'deleted the phone channel',
  'phone_channel.update': 'changed the phone channel',
  'queue.create': 'created the queue',
  'queue.delete': 'deleted the queue',
  'queue.rank': 'ranked the operators of the queue',
  'queue.update': 'changed the queue',
  'queue_ticket.cancel': 'took a visitor out of the queue',
  'sample_data.create': 'made the sample data',
  'sample_data.remove': 'removed the sample data',
  'sample_data.update': 'started or stopped the sample data',
  'scheduling_policy.create': 'created the hours',
  'scheduling_policy.delete': 'deleted the hours',
  'scheduling_policy.update': 'changed the hours',
  'sip_domain.create': 'added the SIP domain',
  'sip_domain.delete': 'deleted the SIP domain',
  'site.create': 'created the site',
  'site.delete': 'deleted the site',
  'site.update': 'changed the site',
  'team.create': 'created the team',
  'team.delete': 'deleted the team',
  'team.update': 'changed the team',
  'visitor.create': 'created a visitor',
  'visitor.update': 'changed a visitor',
  'visitor_authentication_provider.create': 'added the identity provider',
  'visitor_authentication_provider.delete': 'deleted the identity provider',
  'webhook.create': 'registered the webhook',
  'webhook.delete': 'deleted the webhook',
  'webhook.recover': 'recovered what the webhook had missed',
  'webhook.rotate_secret': 'renewed the secret of the webhook',
  'webhook.test': 'sent a test to the webhook',
  'webhook.update': 'changed the webhook',
};

export const knownActions: readonly string[] = Object.keys(actions);
export const knownTypes: readonly string[] = [...new Set(knownActions.map((action) => action.split('.')[0] ?? ''))];

/** One of a later version is said as it is written. */
export function actionWords(action: string): string {
  return actions[action] ?? action;
}

/** `max_engagement_count` → `max engagement count`. */
export function plainName(name: string): string {
  return name.replaceAll('_', ' ');
}

const uuid = /[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}/g;

/** A value, to be read by people: ids of what is known are names. */
export function valueWords(value: unknown, names: ReadonlyMap<string, string>): string {
  if (value === null || value === undefined || value === '') return 'nothing';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'string') return value.replaceAll(uuid, (id) => names.get(id) ?? id);
  if (typeof value !== 'object') return JSON.stringify(value);
  if (Array.isArray(value)) return value.length === 0 ? 'nothing' : value.map((each) => nested(each, names)).join(', ');
  return Object.entries(value)
    .map(([field, each]) => `${plainName(field)}: ${nested(each, names)}`)
    .join(', ');
}

function nested(value: unknown, names: ReadonlyMap<string, string>): string {
  const words = valueWords(value, names);
  return typeof value === 'object' && value !== null && words.includes(', ') ? `(${words})` : words;
}

/** Where the thing is in the console, if it has a place there. What was deleted has none. */
export function placeOf({ action, target, changes }: Pick<AuditEntry, 'action' | 'target' | 'changes'>): string | null {
  const owner = ownerOf(changes);
  if (['access_token', 'api_key', 'invitation'].includes(target.type))
    return owner === null ? null : `/people/${owner}`;
  if (target.type === 'operator_picture') return `/people/${target.id}`;
  if (action.endsWith('.delete')) return null;
  const places: Readonly<Record<string, string>> = {
    operator: `/people/${target.id}`,
    team: '/people/teams',
    site: `/sites/${target.id}`,
    queue: `/queues/${target.id}`,
    scheduling_policy: `/hours/${target.id}`,
    webhook: `/webhooks/${target.id}`,
  };
  return places[target.type] ?? null;
}

/** Whose key, token or invitation it is. */
export function ownerOf(changes: readonly Change[]): string | null {
  const found = changes.find(({ field }) => field === 'operator_id');
  const id = found?.after ?? found?.before;
  return typeof id === 'string' ? id : null;
}

/** The cursor in the address of the next page. */
export function cursorOf(nextPage: string | null): string | null {
  return nextPage === null || !URL.canParse(nextPage) ? null : new URL(nextPage).searchParams.get('cursor');
}

/** What `<input type="datetime-local">` has, as an instant; anything else is no limit. */
export function instantOf(local: string): string | undefined {
  const date = new Date(local);
  return local === '' || Number.isNaN(date.getTime()) ? undefined : date.toISOString();
}
