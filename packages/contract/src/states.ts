/** States of what the interface shows, and why it ended. Migrations have CHECKs of some: a new value needs one. */

/** Of a ticket. */
export const ticketStates = [
  'waiting',
  'offered',
  'engaged',
  'canceled',
  'visitor_left',
  'unstaffed',
  'expired',
] as const;
export type TicketState = (typeof ticketStates)[number];

export const requestStates = ['pending', 'accepted', 'failed'] as const;
export type RequestState = (typeof requestStates)[number];

/** D5.2: why a request failed. With `error`, the application that reported it may say what it was. */
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

/** D1.1. Clients must tolerate more; we send no others. */
export const queueStatuses = ['opened', 'closed', 'full', 'unstaffed'] as const;
export type QueueStatus = (typeof queueStatuses)[number];

/** Whether a queue without operators lets visitors in. */
export const unstaffedRules = ['accept', 'reject'] as const;
export type UnstaffedRule = (typeof unstaffedRules)[number];

/** What became of an attempt to deliver an event. */
export const attemptStates = ['delivered', 'retrying', 'exhausted', 'held', 'discarded'] as const;

/** Whose messages a webhook hears that came with a ticket or request. */
export const messageAudiences = ['own', 'other', 'all'] as const;
export type MessageAudience = (typeof messageAudiences)[number];
