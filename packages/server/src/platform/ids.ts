import { randomUUID } from 'node:crypto';

declare const brand: unique symbol;
/** A string that has been shown to be the id of that kind of thing; costs nothing at run time. */
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
export type SubEngagementId = Id<'sub_engagement'>;

/** The interface demands UUID v4 for its ids; `crypto` keeps a pool of random bytes, so this is about 0.1 µs. */
export function newId<T extends string>(): T {
  return randomUUID() as string as T;
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

export function isUuid(text: string): boolean {
  return uuid.test(text);
}
