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
  id: Type.Unsafe<string>({ ...uuid<'sub_engagement'>(), description: 'Of the sub-engagement' }),
  operator_id: uuid<'operator'>(),
  site_id: uuid<'site'>(),
  media: Type.Unsafe<Medium | null>({
    ...nullable(oneOf(media)),
    description: 'Now, or when it ended; null for one that ended before media were kept',
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
  sub_engagements: Type.Array(subEngagement, { description: 'All of them, oldest first' }),
  started_at: timestamp,
  ended_at: nullable(timestamp),
  created_at: timestamp,
  updated_at: timestamp,
  source: Type.Unsafe<string | null>({
    ...nullable(Type.String()),
    description:
      'What the request gave as its source; else queue, visitor, operator or sms: who asked, or by what. null where the request is no longer kept',
  }),
  legs: Type.Array(leg, { description: 'One for each sub-engagement, oldest first' }),
  operators: Type.Array(engagedOperator, {
    description: 'Those who take or took part, each once, as visitors may know them',
  }),
  audio_recording_urls: Type.Array(Type.String(), { description: 'Empty: nothing is recorded' }),
  calls: Type.Array(callOutput, { description: 'Audio and video calls, oldest first, the last hundred at most' }),
});

type EngagementOutput = Type.Static<typeof engagementOutput>;

export interface EngagementRow extends EngagementOutput {
  readonly id: EngagementId;
  readonly account_id: AccountId;
  readonly site_id: SiteId;
  readonly visitor_id: VisitorId;
  readonly operator_id: OperatorId;
}
