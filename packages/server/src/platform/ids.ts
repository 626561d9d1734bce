import { randomUUID } from 'node:crypto';

declare const brand: unique symbol;
/** A string that was validated as the id of this kind of resource; costs nothing at run time. */
export type Id<Kind extends string> = string & { readonly [brand]: Kind };

export type AccountId = Id<'account'>;
export type SiteId = Id<'site'>;
export type TeamId = Id<'team'>;
export type OperatorId = Id<'operator'>;
export type VisitorId = Id<'visitor'>;
export type QueueId = Id<'queue'>;
export type SchedulingPolicyId = Id<'scheduling_policy'>;
export type ApplicationTokenId = Id<'application_token'>;
export type TicketId = Id<'ticket'>;
export type RequestId = Id<'engagement_request'>;
export type EngagementId = Id<'engagement'>;
export type FileId = Id<'file'>;
export type SubEngagementId = Id<'sub_engagement'>;
export type CallId = Id<'engagement_call'>;

/** A UUID v4. */
export function newId<T extends string>(): T {
  return randomUUID() as string as T;
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

export function isUuid(text: string): boolean {
  return uuid.test(text);
}
