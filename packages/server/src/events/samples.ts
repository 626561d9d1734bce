import { makeEvent, type EventFields, type EventPayload, type EventType } from './catalogue.ts';

/** An event of each type as it might happen: what `GET /event_types` shows, and what a test of a webhook sends. */

const ids = {
  request: '5b0c3d1e-7f5a-4a54-9d0e-2f6f6c1b7a01',
  transfer: '5b0c3d1e-7f5a-4a54-9d0e-2f6f6c1b7a02',
  engagement: '5b0c3d1e-7f5a-4a54-9d0e-2f6f6c1b7a03',
  subEngagement: '5b0c3d1e-7f5a-4a54-9d0e-2f6f6c1b7a04',
  nextSubEngagement: '5b0c3d1e-7f5a-4a54-9d0e-2f6f6c1b7a05',
  site: '5b0c3d1e-7f5a-4a54-9d0e-2f6f6c1b7a06',
  visitor: '5b0c3d1e-7f5a-4a54-9d0e-2f6f6c1b7a07',
  operator: '5b0c3d1e-7f5a-4a54-9d0e-2f6f6c1b7a08',
  nextOperator: '5b0c3d1e-7f5a-4a54-9d0e-2f6f6c1b7a09',
  message: '5b0c3d1e-7f5a-4a54-9d0e-2f6f6c1b7a10',
  upgrade: '5b0c3d1e-7f5a-4a54-9d0e-2f6f6c1b7a11',
  authentication: '5b0c3d1e-7f5a-4a54-9d0e-2f6f6c1b7a12',
  sipDomain: '5b0c3d1e-7f5a-4a54-9d0e-2f6f6c1b7a13',
  file: '5b0c3d1e-7f5a-4a54-9d0e-2f6f6c1b7a14',
} as const;

const timestamp = '2027-01-31T09:00:00.000Z';

const request = { id: ids.request, site_id: ids.site, visitor_id: ids.visitor, operator_id: ids.operator };
const subEngagement = { id: ids.subEngagement, operator_id: ids.operator, site_id: ids.site };
const engagement = {
  id: ids.engagement,
  engagement_request_id: ids.request,
  visitor_id: ids.visitor,
  current_sub_engagement: subEngagement,
};
const placeAndTime = {
  timestamp,
  id: ids.message,
  engagement_id: ids.engagement,
  sub_engagement_id: ids.subEngagement,
};
const fromVisitor = {
  ...placeAndTime,
  content: 'Hello, where is my parcel?',
  sender: { type: 'visitor' },
  target: 'operator',
  type: 'chat',
  attachment: null,
} as const;
const status = { message: { ...fromVisitor, status: 'delivered' } } as const;
const typing = { engagement_id: ids.engagement, sub_engagement_id: ids.subEngagement, typing: true, clock: 1 };

const samples: { readonly [T in EventType]: EventFields<T> } = {
  'engagement.request.failure': { engagement_request: { ...request, fail_reason: 'timed_out' } },
  'engagement.request.deliver': { engagement_request: request },
  'engagement.start': {
    engagement: {
      ...engagement,
      source: 'queue',
      legs: [{ ...subEngagement, media: 'text', started_at: timestamp, ended_at: null }],
      audio_recording_urls: [],
    },
  },
  'engagement.end': { engagement: { ...engagement, end_reason: 'visitor_hung_up' } },
  'engagement.transfer': {
    engagement: {
      id: ids.engagement,
      engagement_request_id: ids.request,
      transfer_request_id: ids.transfer,
      visitor_id: ids.visitor,
      previous_sub_engagement: subEngagement,
      current_sub_engagement: { id: ids.nextSubEngagement, operator_id: ids.nextOperator, site_id: ids.site },
    },
  },
  'engagement.chat.message': { message: { ...fromVisitor, status: 'sent' }, undelivered_messages: false },
  'engagement.chat.message.status': status,
  'engagement.chat.message_status': status,
  'engagement.chat.system_message': {
    message: {
      ...placeAndTime,
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
  'engagement.chat.typing_indicator.operator': { typing_indicator: { ...typing, sender: { id: ids.operator } } },
  'engagement.chat.typing_indicator.visitor': { typing_indicator: { ...typing, sender: { id: ids.visitor } } },
  'engagement.media_upgrade_request': {
    media_upgrade_request: {
      id: ids.upgrade,
      audio: 'two_way',
      video: null,
      target: 'visitor',
      engagement_id: ids.engagement,
      sub_engagement_id: ids.subEngagement,
    },
  },
  'engagement.event': {
    message: {
      timestamp,
      id: ids.message,
      engagement_id: ids.engagement,
      sub_engagement: subEngagement,
      sender: { type: 'visitor', id: ids.visitor },
      content: 'cart_opened',
    },
  },
  'visitor.authentication.success': {
    authentication_response: {
      authentication_request_id: ids.authentication,
      visitor_id: ids.visitor,
      access_token: 'a token of the visitor would stand here',
      name: 'Vera Visitor',
      preferred_name: null,
      email: 'vera@example.com',
      id_token: null,
      issuer: 'https://id.example.com',
      subject: 'vera',
    },
  },
  'visitor.authentication.failure': {
    authentication_response: { fail_reason: 'token_expired', authentication_request_id: ids.authentication },
  },
  'sip_domain.delete': { sip_domain: { id: ids.sipDomain } },
  'engagement.files.security_scan_result': { security_scan_result: { file_id: ids.file, result: 'clean' } },
};

/** Made as every event is, so that one which broke its schema would never be sent. */
export function sampleEvent<T extends EventType>(type: T, { id, at }: { id: string; at: Date }): EventPayload<T> {
  return makeEvent(type, { id, at }, samples[type]);
}
