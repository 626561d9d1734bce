import { randomFillSync } from 'node:crypto';

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

const pool = Buffer.alloc(16 * 1_024);
let used = pool.length;
const text = Buffer.from('xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx');
/** The position of each of the 16 bytes in the text. */
const positions = [0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34] as const;
const digits = Buffer.from('0123456789abcdef');

/**
 * A UUID v4 from a pool of random bytes. Unlike `crypto.randomUUID`, it is one flat string: Node's is a concatenation of twenty
 * strings, which stay in memory as long as the id does, and ids live long.
 */
export function newId<T extends string>(): T {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  pool.writeUInt8((pool.readUInt8(used + 6) & 0x0f) | 0x40, used + 6);
  pool.writeUInt8((pool.readUInt8(used + 8) & 0x3f) | 0x80, used + 8);
  for (let index = 0; index < 16; index += 1) {
    const byte = pool[used + index] ?? 0;
    const position = positions[index] ?? 0;
    text[position] = digits[byte >> 4] ?? 0;
    text[position + 1] = digits[byte & 15] ?? 0;
  }
  used += 16;
  return text.toString('latin1') as T;
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

export function isUuid(text: string): boolean {
  return uuid.test(text);
}
