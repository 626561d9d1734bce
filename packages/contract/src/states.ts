/** States and end reasons of the API's resources. Some have a CHECK in the database, so a new value needs a migration. */

export const endedTicketStates = ['engaged', 'canceled', 'visitor_left', 'unstaffed', 'expired'] as const;
export type EndedTicketState = (typeof endedTicketStates)[number];
export const ticketStates = ['waiting', 'offered', ...endedTicketStates] as const;
export type TicketState = (typeof ticketStates)[number];

export const requestStates = ['pending', 'accepted', 'failed'] as const;
export type RequestState = (typeof requestStates)[number];

/** D5.2: why a request failed. Only `error` may have a message. */
export const silentFailReasons = [
  'rejected',
  'timed_out',
  'visitor_left',
  'visitor_cancel',
  'operator_left',
  'operator_cancel',
] as const;
export const failReasons = [...silentFailReasons, 'error'] as const;
export type FailReason = (typeof failReasons)[number];

export const engagementStates = ['active', 'ended'] as const;

export const endReasons = ['visitor_hung_up', 'operator_hung_up', 'visitor_left', 'operator_left', 'error'] as const;
export type EndReason = (typeof endReasons)[number];

/** D1.1: clients must tolerate other values; Usher sends only these. */
export const queueStatuses = ['opened', 'closed', 'full', 'unstaffed'] as const;
export type QueueStatus = (typeof queueStatuses)[number];

/** D2.6: whether a queue without staff accepts visitors. */
export const unstaffedRules = ['accept', 'reject'] as const;
export type UnstaffedRule = (typeof unstaffedRules)[number];

/** Results of an attempt to deliver an event. */
export const attemptStates = ['delivered', 'retrying', 'exhausted', 'held', 'discarded'] as const;

/** D8.2: which messages an attached webhook receives. */
export const messageAudiences = ['own', 'other', 'all'] as const;
export type MessageAudience = (typeof messageAudiences)[number];
