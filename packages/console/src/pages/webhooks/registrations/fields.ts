import type { Webhook } from '@usher/sdk/api-types';
import type { WebhookBody } from '../channels/channel.ts';
import type { Found } from '../channels/headers.ts';
import { channelNamed, channelOf, emptyDrafts, type ChannelDrafts } from '../channels/channels.ts';
import { texts } from '../texts.ts';

export type EventName = Webhook['events'][number];

/** The draft of a webhook. */
export interface WebhookFields extends ChannelDrafts {
  /** The drafts of all channels. */
  readonly kind: string;
  readonly events: readonly EventName[];
  /** `null`: all sites where the creator is super_manager, as that changes. */
  readonly siteIds: readonly string[] | null;
  readonly description: string;
  readonly ordering: Webhook['ordering'];
  readonly enabled: boolean;
}

export const emptyFields: WebhookFields = {
  kind: 'http',
  ...emptyDrafts,
  events: [],
  siteIds: null,
  description: '',
  ordering: 'engagement',
  enabled: true,
};

export function fieldsOf(webhook: Webhook): WebhookFields {
  const channel = channelOf(webhook);
  return {
    kind: channel.kind,
    ...emptyDrafts,
    ...channel.draftOf(webhook),
    events: webhook.events,
    siteIds: webhook.site_ids,
    description: webhook.description ?? '',
    ordering: webhook.ordering,
    enabled: webhook.enabled,
  };
}

export function bodyOf(fields: WebhookFields): WebhookBody {
  const { kind, events, siteIds, description, ordering, enabled } = fields;
  return {
    ...channelNamed(kind).bodyOf(fields),
    events,
    site_ids: siteIds,
    description: description === '' ? null : description,
    ordering,
    enabled,
  };
}

interface Violation {
  readonly attribute: string;
  readonly detail: string;
}

/** Errors that the server would report, shown while typing. */
export function violationsOf(fields: WebhookFields): readonly Violation[] {
  const found: readonly Found[] = [
    ...channelNamed(fields.kind).faultsOf(fields),
    ['/events', fields.events.length === 0 ? texts.selectAtLeastOne : null],
    ['/site_ids', fields.siteIds?.length === 0 ? texts.selectSitesOrAll : null],
  ];
  return found.flatMap(([attribute, detail]) => (detail === null ? [] : [{ attribute, detail }]));
}

/** Only the errors of edited fields: untouched fields show errors after the form is submitted. */
export function isTyped(fields: WebhookFields, attribute: string): boolean {
  if (['/events', '/site_ids', '/headers/'].includes(attribute)) return false;
  const input = channelNamed(fields.kind)
    .inputs.flat()
    .find(({ pointer }) => pointer === attribute);
  return input === undefined || input.get(fields) !== '';
}
