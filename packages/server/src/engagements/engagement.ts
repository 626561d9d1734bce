import { media, type Medium } from '@usher/contract/media';
import { endReasons, engagementStates } from '@usher/contract/states';
import Type from 'typebox';
import type { AccountId, EngagementId, OperatorId, SiteId, VisitorId } from '../platform/ids.ts';
import { callOutput } from './calls/call.ts';
import { pictureUrl } from '../identity/operators/pictures/picture.ts';
import { nullable, oneOf, output, timestamp, uuid } from '../platform/schema.ts';

const subEngagement = output('SubEngagement', {
  id: uuid<'sub_engagement'>(),
  operator_id: uuid<'operator'>(),
  site_id: uuid<'site'>(),
  started_at: timestamp,
  ended_at: nullable(timestamp),
});

const leg = output('EngagementLeg', {
  id: Type.Unsafe<string>({ ...uuid<'sub_engagement'>(), description: 'The id of the sub-engagement' }),
  operator_id: uuid<'operator'>(),
  site_id: uuid<'site'>(),
  media: Type.Unsafe<Medium | null>({
    ...nullable(oneOf(media)),
    description: 'The media now, or when the leg ended; null for a leg that ended before Usher stored its media',
  }),
  started_at: timestamp,
  ended_at: nullable(timestamp),
});

const engagedOperator = output('EngagedOperator', {
  id: uuid<'operator'>(),
  display_name: Type.String({ description: 'The name that visitors see' }),
  picture_url: pictureUrl,
});

export const engagementOutput = output('Engagement', {
  id: uuid<'engagement'>(),
  engagement_request_id: uuid<'engagement_request'>(),
  queue_ticket_id: nullable(uuid<'ticket'>()),
  queue_id: nullable(uuid<'queue'>()),
  site_id: uuid<'site'>(),
  visitor_id: uuid<'visitor'>(),
  operator_id: uuid<'operator'>(),
  media: oneOf(media),
  state: oneOf(engagementStates),
  end_reason: nullable(oneOf(endReasons)),
  current_sub_engagement: subEngagement,
  sub_engagements: Type.Array(subEngagement, { description: 'Oldest first' }),
  started_at: timestamp,
  ended_at: nullable(timestamp),
  created_at: timestamp,
  updated_at: timestamp,
  source: Type.Unsafe<string | null>({
    ...nullable(Type.String()),
    description:
      'The source that the request named; otherwise queue, visitor, operator or sms, depending on where the request came from. null if the request is no longer stored',
  }),
  legs: Type.Array(leg, { description: 'One for each sub-engagement, oldest first' }),
  operators: Type.Array(engagedOperator, {
    description: 'Operators who take or took part, each listed once, with the details that visitors may see',
  }),
  audio_recording_urls: Type.Array(Type.String(), { description: 'Always empty: calls are not recorded' }),
  calls: Type.Array(callOutput, { description: 'The last 100 audio and video calls, oldest first' }),
});

type EngagementOutput = Type.Static<typeof engagementOutput>;

export interface EngagementRow extends EngagementOutput {
  readonly id: EngagementId;
  readonly account_id: AccountId;
  readonly site_id: SiteId;
  readonly visitor_id: VisitorId;
  readonly operator_id: OperatorId;
}
