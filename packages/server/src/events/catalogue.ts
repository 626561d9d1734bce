import { media } from '@usher/contract/media';
import { endReasons, silentFailReasons } from '@usher/contract/states';
import Type from 'typebox';
import { body, nullable, oneOf } from '../platform/schema.ts';
import { authenticationFailureDescription } from './authentication-failures.ts';
import { deliveredMessage, sentMessage, systemMessage } from './chat-message.ts';
import { event, type EventTraits } from './declaration.ts';
import { onDemandDeclarations } from './on-demand-types.ts';
import * as sample from './sample-values.ts';
import { id, instant, subEngagement } from './vocabulary.ts';

/**
 * Declares every event type. To add one, declare it here and append it where it happens (`append.ts`): openapi.json, webhooks,
 * log, live feed and console are derived from this catalogue.
 *
 * Existing receivers depend on the fields and their order, so new fields come last. The subject of an event is one field,
 * named for it.
 */

const request = { id, site_id: id, visitor_id: id, operator_id: id };

const failMessage = Type.String({ description: 'Present only if fail_reason is error' });
/** `fail_message` is present, and may be null, if the reason is `error`; with other reasons it is absent. */
const failedRequest = Type.Union([
  body({ ...request, fail_reason: oneOf(silentFailReasons) }),
  body({ ...request, fail_reason: Type.Literal('error'), fail_message: nullable(failMessage) }),
]);

const engagement = { id, engagement_request_id: id, visitor_id: id, current_sub_engagement: subEngagement };

/** Existing clients also read these fields. They come last, so that the order of the older fields stays. */
const startedEngagement = {
  ...engagement,
  source: Type.String({
    description: 'The source given by the request; otherwise what started the request: queue, visitor, operator or sms',
  }),
  legs: Type.Array(
    body({
      ...subEngagement.properties,
      media: oneOf(media),
      started_at: instant('When the sub-engagement started'),
      ended_at: Type.Null(),
    }),
    { description: 'The only sub-engagement so far' },
  ),
  audio_recording_urls: Type.Array(Type.String(), { description: 'Always empty: calls are not recorded' }),
};

const typing = body({
  engagement_id: id,
  sub_engagement_id: id,
  sender: body({ id }),
  typing: Type.Boolean(),
  clock: Type.Integer({
    description: 'Grows with each update. An update with a smaller clock than the last one seen is out of date',
  }),
});

/** The path and query of a URL often contain passwords, so only its origin is sent. */
/** D8.13. */
const sinceFailing = 'Since when it has been failing. Single deliveries may have succeeded since';

const webhook = {
  id,
  origin: Type.String({ description: 'Scheme, host and port of its URL' }),
  description: nullable(Type.String()),
  site_ids: Type.Array(id, { description: 'The sites that the webhook covers, or has covered' }),
  registered_by: nullable(Type.String({ description: 'The operator who registered the webhook' })),
};

const undelivered = Type.Boolean({ description: 'Whether earlier chat messages were not delivered to the recipient' });
const attribute = nullable(Type.String());

export const catalogue = {
  'engagement.request.failure': event({
    title: 'EngagementRequestFailureEvent',
    trigger: 'An engagement request ends without becoming an engagement',
    fields: { engagement_request: failedRequest },
    sample: { engagement_request: { ...sample.request, fail_reason: 'timed_out' } },
  }),
  'engagement.request.deliver': event({
    title: 'EngagementRequestDeliverEvent',
    trigger: 'An engagement request made for outbound SMS is delivered',
    fields: { engagement_request: body(request) },
    sample: { engagement_request: sample.request },
  }),
  'engagement.start': event({
    title: 'EngagementStartEvent',
    trigger: 'An engagement starts',
    fields: { engagement: body(startedEngagement) },
    sample: {
      engagement: {
        ...sample.engagement,
        source: 'queue',
        legs: [{ ...sample.subEngagement, media: 'text', started_at: sample.timestamp, ended_at: null }],
        audio_recording_urls: [],
      },
    },
  }),
  'engagement.end': event({
    title: 'EngagementEndEvent',
    trigger: 'An engagement ends',
    fields: { engagement: body({ ...engagement, end_reason: oneOf(endReasons) }) },
    sample: { engagement: { ...sample.engagement, end_reason: 'visitor_hung_up' } },
  }),
  'engagement.transfer': event({
    title: 'EngagementTransferEvent',
    trigger: 'An engagement is transferred to a new operator',
    fields: {
      engagement: body({
        id,
        engagement_request_id: id,
        transfer_request_id: id,
        visitor_id: id,
        previous_sub_engagement: subEngagement,
        current_sub_engagement: subEngagement,
      }),
    },
    sample: {
      engagement: {
        id: sample.ids.engagement,
        engagement_request_id: sample.ids.request,
        transfer_request_id: sample.ids.transfer,
        visitor_id: sample.ids.visitor,
        previous_sub_engagement: sample.subEngagement,
        current_sub_engagement: {
          id: sample.ids.nextSubEngagement,
          operator_id: sample.ids.nextOperator,
          site_id: sample.ids.site,
        },
      },
    },
  }),
  'engagement.chat.message': event({
    title: 'ChatMessageEvent',
    trigger: 'A chat message is sent',
    fields: { message: sentMessage, undelivered_messages: undelivered },
    sample: { message: { ...sample.chatMessage, status: 'sent' }, undelivered_messages: false },
  }),
  // D8.3: the type has two spellings. Each webhook is sent the spelling it subscribed.
  'engagement.chat.message.status': event({
    title: 'ChatMessageDottedStatusEvent',
    trigger: 'A chat message is delivered (the type spelled with a dot)',
    fields: { message: deliveredMessage },
    sample: { message: { ...sample.chatMessage, status: 'delivered' } },
  }),
  'engagement.chat.message_status': event({
    title: 'ChatMessageStatusEvent',
    trigger: 'A chat message is delivered',
    fields: { message: deliveredMessage },
    sample: { message: { ...sample.chatMessage, status: 'delivered' } },
  }),
  'engagement.chat.system_message': event({
    title: 'SystemMessageEvent',
    trigger: 'The system sends a message to the operator',
    fields: { message: systemMessage, undelivered_messages: undelivered },
    sample: {
      message: {
        ...sample.messageFields,
        content: 'The visitor asks for video',
        status: 'sent',
        sender: { type: 'system' },
        target: 'operator',
        type: 'system_message',
        attachment: null,
        metadata: null,
      },
      undelivered_messages: false,
    },
    hiddenFromVisitors: true,
  }),
  'engagement.chat.typing_indicator.operator': event({
    title: 'OperatorTypingEvent',
    trigger: 'The operator starts or stops typing',
    fields: { typing_indicator: typing },
    sample: { typing_indicator: { ...sample.typing, sender: { id: sample.ids.operator } } },
    shortLived: true,
  }),
  'engagement.chat.typing_indicator.visitor': event({
    title: 'VisitorTypingEvent',
    trigger: 'The visitor starts or stops typing',
    fields: { typing_indicator: typing },
    sample: { typing_indicator: { ...sample.typing, sender: { id: sample.ids.visitor } } },
    shortLived: true,
  }),
  'engagement.media_upgrade_request': event({
    title: 'MediaUpgradeRequestEvent',
    trigger: 'Audio or video is requested in an engagement',
    fields: {
      media_upgrade_request: body({
        id,
        audio: nullable(oneOf(['two_way'] as const)),
        video: nullable(oneOf(['one_way', 'two_way'] as const)),
        target: oneOf(['visitor', 'operator'] as const),
        engagement_id: id,
        sub_engagement_id: id,
      }),
    },
    sample: {
      media_upgrade_request: {
        id: sample.ids.upgrade,
        audio: 'two_way',
        video: null,
        target: 'visitor',
        engagement_id: sample.ids.engagement,
        sub_engagement_id: sample.ids.subEngagement,
      },
    },
  }),
  'engagement.event': event({
    title: 'VisitorEventEvent',
    trigger: 'A visitor event is sent',
    fields: {
      message: body({
        timestamp: instant('When the server created the message'),
        id,
        engagement_id: id,
        sub_engagement: subEngagement,
        sender: body({ type: Type.Literal('visitor'), id }),
        content: Type.String({ description: 'The name of the visitor event' }),
      }),
    },
    sample: {
      message: {
        timestamp: sample.timestamp,
        id: sample.ids.message,
        engagement_id: sample.ids.engagement,
        sub_engagement: sample.subEngagement,
        sender: { type: 'visitor', id: sample.ids.visitor },
        content: 'cart_opened',
      },
    },
  }),
  'visitor.authentication.success': event({
    title: 'VisitorAuthenticationSuccessEvent',
    trigger: 'A visitor authentication request succeeded',
    fields: {
      authentication_response: body({
        authentication_request_id: id,
        visitor_id: id,
        access_token: Type.String({ description: 'A new token of the visitor; empty from one day after the event' }),
        name: attribute,
        preferred_name: attribute,
        email: attribute,
        id_token: attribute,
        issuer: attribute,
        subject: attribute,
      }),
    },
    sample: {
      authentication_response: {
        authentication_request_id: sample.ids.authentication,
        visitor_id: sample.ids.visitor,
        access_token: 'the-access-token-of-the-visitor',
        name: 'Vera Visitor',
        preferred_name: null,
        email: 'vera@example.com',
        id_token: null,
        issuer: 'https://id.example.com',
        subject: 'vera',
      },
    },
    hasSecrets: true,
  }),
  'visitor.authentication.failure': event({
    title: 'VisitorAuthenticationFailureEvent',
    trigger: 'A visitor authentication request failed',
    fields: {
      authentication_response: body({
        fail_reason: Type.String({ description: authenticationFailureDescription }),
        authentication_request_id: id,
      }),
    },
    sample: {
      authentication_response: {
        fail_reason: 'token_expired',
        authentication_request_id: sample.ids.authentication,
      },
    },
  }),
  'sip_domain.delete': event({
    title: 'SipDomainDeleteEvent',
    trigger: 'A SIP domain is deleted',
    fields: { sip_domain: body({ id }) },
    sample: { sip_domain: { id: sample.ids.sipDomain } },
  }),
  'engagement.files.security_scan_result': event({
    title: 'FileScanResultEvent',
    trigger: 'An uploaded file has been scanned',
    fields: {
      security_scan_result: body({
        file_id: Type.String({ format: 'uuid' }),
        result: oneOf(['clean', 'infected'] as const),
      }),
    },
    sample: { security_scan_result: { file_id: sample.ids.file, result: 'clean' } },
  }),
  // About a webhook, and sent to the account's other webhooks (`appendWebhookEvent`).
  'webhook.failing': event({
    title: 'WebhookFailingEvent',
    trigger: 'Another webhook has delivered nothing for an hour',
    fields: { webhook: body({ ...webhook, failing_since: instant(sinceFailing) }) },
    sample: { webhook: { ...sample.webhook, failing_since: sample.timestamp } },
    hiddenFromVisitors: true,
  }),
  'webhook.disabled': event({
    title: 'WebhookDisabledEvent',
    trigger: 'Another webhook is disabled',
    fields: {
      webhook: body({
        ...webhook,
        disabled_because: oneOf(['asked', 'gone', 'failing', 'token_ended'] as const),
        failing_since: nullable(instant(sinceFailing)),
      }),
    },
    sample: { webhook: { ...sample.webhook, disabled_because: 'failing', failing_since: sample.timestamp } },
    hiddenFromVisitors: true,
  }),
  'webhook.recovered': event({
    title: 'WebhookRecoveredEvent',
    trigger: 'Another webhook, which was reported as failing or disabled, delivers again',
    fields: { webhook: body(webhook) },
    sample: { webhook: sample.webhook },
    hiddenFromVisitors: true,
  }),
  ...onDemandDeclarations,
};

export type EventType = keyof typeof catalogue;
export const eventTypes = Object.keys(catalogue) as readonly EventType[];

/** Events about a webhook. They belong to no site: `feed/audience.ts` decides who sees them. */
export const webhookEventTypes = [
  'webhook.failing',
  'webhook.disabled',
  'webhook.recovered',
] as const satisfies readonly EventType[];
export type WebhookEventType = (typeof webhookEventTypes)[number];

/** Events that are made only while a registered webhook of the account subscribes them. */
export type OnDemandType = keyof typeof onDemandDeclarations;
export const onDemandTypes = Object.keys(onDemandDeclarations) as readonly OnDemandType[];

/** The fields of an event beside those that every event has. */
export type EventFields<T extends EventType> = T extends EventType ? (typeof catalogue)[T]['sample'] : never;

export type EventPayload<T extends EventType> = T extends EventType ? CommonFields<T> & EventFields<T> : never;

interface CommonFields<T extends EventType> {
  readonly event_type: T;
  /** The same in every attempt to deliver the event. */
  readonly event_id: string;
  readonly dispatched_at: string;
}

const declared: ReadonlyMap<string, EventTraits> = new Map(Object.entries(catalogue));

/** The traits of a type in the log. A type that is not in the catalogue is an item of the live feed and has no traits. */
export function traitsOf(type: string): EventTraits {
  return declared.get(type) ?? {};
}
