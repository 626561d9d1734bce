import { media } from '@usher/contract/media';
import { failReasons, requestStates } from '@usher/contract/states';
import Type from 'typebox';
import {
  newSiteVisitor,
  newVisitorViolations,
  visitorAuthentication,
} from '../../identity/visitors/new-site-visitor.ts';
import { invalid, Refusal } from '../../platform/errors.ts';
import type { AccountId, RequestId } from '../../platform/ids.ts';
import { body, checked, nullable, oneOf, output, timestamp, uuid } from '../../platform/schema.ts';
import type { Party } from '../../identity/party.ts';
import type { RequestView } from '../../routing/board/views/views.ts';
import { mediaOptions, message, noteFields, source } from '../../routing/notes.ts';

export const requestInput = checked(
  body({
    site_id: uuid<'site'>(),
    media: oneOf(media),
    operator_id: Type.Optional(uuid<'operator'>()),
    visitor_id: Type.Optional(uuid<'visitor'>()),
    ...noteFields,
    new_site_visitor: Type.Optional(newSiteVisitor),
  }),
  newVisitorViolations,
);

/** What a side may do with a request. `reason: error` says that the side's application failed. */
export const answerInput = body({
  action: oneOf(['accept', 'decline', 'cancel'] as const),
  reason: Type.Optional(oneOf(['error'] as const)),
  message: Type.Optional(nullable(message)),
});

export type AnswerInput = Type.Static<typeof answerInput>;

export const requestFields = {
  site_id: uuid<'site'>(),
  visitor_id: uuid<'visitor'>(),
  operator_id: uuid<'operator'>(),
  media: oneOf(media),
  state: oneOf(requestStates),
  fail_reason: nullable(oneOf(failReasons)),
  fail_message: nullable(Type.String()),
  timeout: Type.Integer({ description: 'Seconds from creation until the request times out' }),
  queue_ticket_id: nullable(uuid<'ticket'>()),
  queue_id: nullable(uuid<'queue'>()),
  engagement_id: nullable(uuid<'engagement'>()),
  created_at: timestamp,
  updated_at: timestamp,
};

export const requestOutput = output('EngagementRequest', {
  id: uuid<'engagement_request'>(),
  origin: oneOf(['queue', 'visitor', 'operator'] as const),
  platform: Type.String(),
  source: nullable(source),
  media_options: Type.Unsafe<Type.Static<typeof mediaOptions> | null>({ ...mediaOptions, type: ['object', 'null'] }),
  ...requestFields,
});

/** The answer to the request that creates an engagement request. */
export const newRequestOutput = output('NewEngagementRequest', {
  ...requestOutput.properties,
  visitor_authentication: Type.Optional(visitorAuthentication),
});

export type RequestOutput = Type.Static<typeof requestOutput>;

/** A stored request; the board may no longer hold it. */
export interface RequestRow extends RequestView {
  readonly accountId: AccountId;
}

export function showRequest(request: RequestView): RequestOutput {
  return {
    id: request.id,
    origin: request.kind === 'ticket' ? 'queue' : request.origin,
    platform: request.notes.platform,
    source: request.notes.source,
    media_options: request.notes.mediaOptions as RequestOutput['media_options'],
    ...showFields(request),
  };
}

/** Fields that every request shows, transfers included. */
export function showFields(request: RequestView) {
  return {
    site_id: request.siteId,
    visitor_id: request.visitorId,
    operator_id: request.operatorId,
    media: request.medium,
    state: request.state,
    fail_reason: request.failReason,
    fail_message: request.failMessage,
    timeout: Math.round(request.timeoutMs / 1000),
    queue_ticket_id: request.kind === 'transfer' ? null : request.ticketId,
    queue_id: request.queueId,
    engagement_id: request.engagementId,
    created_at: new Date(request.createdAt),
    updated_at: new Date(request.endedAt ?? request.createdAt),
  };
}

/** Converts the answer for the board. A message explains why an application failed, so it requires `reason: error`. */
export function answerOf(requestId: RequestId, by: Party, { action, reason, message: text = null }: AnswerInput) {
  if (reason !== undefined && action === 'accept')
    throw invalid([{ attribute: '/reason', detail: 'cannot be combined with the action accept' }]);
  if (text !== null && reason === undefined)
    throw invalid([{ attribute: '/message', detail: 'is allowed only with the reason error' }]);
  return { requestId, action, by, error: reason === undefined ? null : { message: text } };
}

export function requestEnded({ id, state, failReason }: RequestView): Refusal {
  const how = failReason === null ? state : `${state} (${failReason})`;
  return new Refusal('request_ended', `The request ${id} can no longer be answered: it is ${how}.`, {
    details: [{ attribute: '/state', detail: state }],
  });
}
