import { media } from '@usher/contract/media';
import { endReasons, silentFailReasons } from '@usher/contract/states';
import Type from 'typebox';
import { body, nullable, oneOf } from '../platform/schema.ts';
import { authenticationFailuresInWords } from './authentication-failures.ts';
import { deliveredMessage, sentMessage, systemMessage } from './chat-message.ts';
import { id, instant, subEngagement } from './vocabulary.ts';

/**
 * One schema per event type, with the fields of the interface document, in its order. What an event is about stands in one
 * field named for it. Fields beyond the document come after its own.
 */

const request = { id, site_id: id, visitor_id: id, operator_id: id };

const failMessage = Type.String({ description: 'With the reason error only' });
/** `fail_message` goes with the reason `error`, where it is always there and may be null; with no other. */
const failedRequest = Type.Union([
  body({ ...request, fail_reason: oneOf(silentFailReasons) }),
  body({ ...request, fail_reason: Type.Literal('error'), fail_message: nullable(failMessage) }),
]);

const engagement = { id, engagement_request_id: id, visitor_id: id, current_sub_engagement: subEngagement };

/** What clients of this family also read of an engagement that starts. After the document's fields, whose places stay. */
const startedEngagement = {
  ...engagement,
  source: Type.String({
    description: 'What the request gave as its source; else queue, visitor, operator or sms: who asked, or by what',
  }),
  legs: Type.Array(
    body({
      ...subEngagement.properties,
      media: oneOf(media),
      started_at: instant('When the sub-engagement started'),
      ended_at: Type.Null(),
    }),
    { description: 'The one sub-engagement that there is' },
  ),
  audio_recording_urls: Type.Array(Type.String(), { description: 'Empty: nothing is recorded' }),
};

const typing = body({
  engagement_id: id,
  sub_engagement_id: id,
  sender: body({ id }),
  typing: Type.Boolean(),
  clock: Type.Integer({ description: 'Grows with each update: one that is smaller than the last seen is out of date' }),
});

const undelivered = Type.Boolean({ description: 'Whether earlier chat messages were not delivered to the recipient' });
const attribute = nullable(Type.String());

export const payloads = {
  'engagement.request.failure': event(
    'engagement.request.failure',
    { title: 'EngagementRequestFailureEvent', trigger: 'An engagement request ends without becoming an engagement' },
    { engagement_request: failedRequest },
  ),
  'engagement.request.deliver': event(
    'engagement.request.deliver',
    { title: 'EngagementRequestDeliverEvent', trigger: 'An engagement request made for outbound SMS is delivered' },
    { engagement_request: body(request) },
  ),
  'engagement.start': event(
    'engagement.start',
    { title: 'EngagementStartEvent', trigger: 'An engagement starts' },
    { engagement: body(startedEngagement) },
  ),
  'engagement.end': event(
    'engagement.end',
    { title: 'EngagementEndEvent', trigger: 'An engagement ends' },
    { engagement: body({ ...engagement, end_reason: oneOf(endReasons) }) },
  ),
  'engagement.transfer': event(
    'engagement.transfer',
    { title: 'EngagementTransferEvent', trigger: 'An engagement is transferred to a new operator' },
    {
      engagement: body({
        id,
        engagement_request_id: id,
        transfer_request_id: id,
        visitor_id: id,
        previous_sub_engagement: subEngagement,
        current_sub_engagement: subEngagement,
      }),
    },
  ),
  'engagement.chat.message': event(
    'engagement.chat.message',
    { title: 'ChatMessageEvent', trigger: 'A chat message is sent' },
    { message: sentMessage, undelivered_messages: undelivered },
  ),
  // The document spells it both ways: each webhook is sent the spelling it subscribed (D8.3).
  'engagement.chat.message.status': event(
    'engagement.chat.message.status',
    { title: 'ChatMessageDottedStatusEvent', trigger: 'A chat message is delivered; its other spelling' },
    { message: deliveredMessage },
  ),
  'engagement.chat.message_status': event(
    'engagement.chat.message_status',
    { title: 'ChatMessageStatusEvent', trigger: 'A chat message is delivered' },
    { message: deliveredMessage },
  ),
  'engagement.chat.system_message': event(
    'engagement.chat.system_message',
    { title: 'SystemMessageEvent', trigger: 'A message made by the system is sent to the operator' },
    { message: systemMessage, undelivered_messages: undelivered },
  ),
  'engagement.chat.typing_indicator.operator': event(
    'engagement.chat.typing_indicator.operator',
    { title: 'OperatorTypingEvent', trigger: 'The operator starts or stops typing' },
    { typing_indicator: typing },
  ),
  'engagement.chat.typing_indicator.visitor': event(
    'engagement.chat.typing_indicator.visitor',
    { title: 'VisitorTypingEvent', trigger: 'The visitor starts or stops typing' },
    { typing_indicator: typing },
  ),
  'engagement.media_upgrade_request': event(
    'engagement.media_upgrade_request',
    { title: 'MediaUpgradeRequestEvent', trigger: 'Audio or video is asked for in an engagement' },
    {
      media_upgrade_request: body({
        id,
        audio: nullable(oneOf(['two_way'] as const)),
        video: nullable(oneOf(['one_way', 'two_way'] as const)),
        target: oneOf(['visitor', 'operator'] as const),
        engagement_id: id,
        sub_engagement_id: id,
      }),
    },
  ),
  'engagement.event': event(
    'engagement.event',
    { title: 'VisitorEventEvent', trigger: 'A visitor event is sent' },
    {
      message: body({
        timestamp: instant('When the server made it'),
        id,
        engagement_id: id,
        sub_engagement: subEngagement,
        sender: body({ type: Type.Literal('visitor'), id }),
        content: Type.String({ description: 'The name of the visitor event' }),
      }),
    },
  ),
  'visitor.authentication.success': event(
    'visitor.authentication.success',
    { title: 'VisitorAuthenticationSuccessEvent', trigger: 'A visitor authentication request succeeded' },
    {
      authentication_response: body({
        authentication_request_id: id,
        visitor_id: id,
        access_token: Type.String({ description: 'A new token of the visitor; empty once it is a day old' }),
        name: attribute,
        preferred_name: attribute,
        email: attribute,
        id_token: attribute,
        issuer: attribute,
        subject: attribute,
      }),
    },
  ),
  'visitor.authentication.failure': event(
    'visitor.authentication.failure',
    { title: 'VisitorAuthenticationFailureEvent', trigger: 'A visitor authentication request failed' },
    {
      authentication_response: body({
        fail_reason: Type.String({ description: authenticationFailuresInWords }),
        authentication_request_id: id,
      }),
    },
  ),
  'sip_domain.delete': event(
    'sip_domain.delete',
    { title: 'SipDomainDeleteEvent', trigger: 'A SIP domain is deleted' },
    { sip_domain: body({ id }) },
  ),
  'engagement.files.security_scan_result': event(
    'engagement.files.security_scan_result',
    { title: 'FileScanResultEvent', trigger: 'An uploaded file has been scanned' },
    {
      security_scan_result: body({
        file_id: Type.String({ format: 'uuid' }),
        result: oneOf(['clean', 'infected'] as const),
      }),
    },
  ),
};

function event<T extends string, Fields extends Type.TProperties>(
  type: T,
  { title, trigger }: { readonly title: string; readonly trigger: string },
  fields: Fields,
) {
  return Type.Object(
    {
      event_type: Type.Literal(type),
      event_id: Type.String({ format: 'uuid', description: 'The same in every repetition of the event' }),
      dispatched_at: instant('When it happened'),
      ...fields,
    },
    { title, description: trigger, additionalProperties: false },
  );
}
