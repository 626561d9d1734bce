import type { Attempt } from '../attempt.ts';

/** What to do after an answer of Apple. `answers` lists every status and reason that Apple documents. */
export interface Ruling {
  readonly verdict: Attempt['verdict'];
  readonly unavailable: boolean;
  /**
   * What to do with our provider token: `renew` signs a new one; `pause` sends nothing to this environment and topic for a while,
   * because it would be refused too.
   */
  readonly credential: 'keep' | 'renew' | 'pause';
  /** Whether to stop using the connection. */
  readonly retire: boolean;
  readonly retryAfterMs: number | null;
  readonly error: string | null;
}

interface Rule extends Omit<Ruling, 'verdict' | 'error'> {
  /** `ended if later`: `ended` if Apple invalidated the device token after the webhook was registered, else `failed`. */
  readonly verdict: Ruling['verdict'] | 'ended if later';
}

/** Apple on 5xx: "After 15 minutes, you can retry". The retry schedule has its own limits. */
const afterServerErrorMs = 15 * 60_000;

const failed: Rule = { verdict: 'failed', unavailable: false, credential: 'keep', retire: false, retryAfterMs: null };
const delivered: Rule = { ...failed, verdict: 'delivered' };
const refused: Rule = { ...failed, verdict: 'refused' };
const ended: Rule = { ...failed, verdict: 'ended' };
const endedIfLater: Rule = { ...failed, verdict: 'ended if later' };
const unavailable: Rule = { ...failed, unavailable: true, retire: true };
const broken: Rule = { ...unavailable, retryAfterMs: afterServerErrorMs };
const paused: Rule = { ...failed, unavailable: true, credential: 'pause' };

/**
 * A token for another topic is `refused`, not `ended`: otherwise a key of the wrong team would end every webhook. We do not use
 * certificates; their reasons are listed for completeness.
 */
export const answers: readonly (readonly [status: number, reason: string, rule: Rule, meaning: string])[] = [
  [400, 'BadCollapseId', refused, 'the collapse id is too long'],
  [400, 'BadDeviceToken', ended, 'the device token is not valid in this environment'],
  [400, 'BadExpirationDate', refused, 'the expiration is invalid'],
  [400, 'BadMessageId', refused, 'the id of the notification is invalid'],
  [400, 'BadPriority', refused, 'the priority is invalid'],
  [400, 'BadTopic', refused, 'the topic is invalid'],
  [400, 'DeviceTokenNotForTopic', refused, 'the device token is not for this topic'],
  [400, 'DuplicateHeaders', refused, 'a header was repeated'],
  [400, 'IdleTimeout', unavailable, 'the connection was idle'],
  [400, 'InvalidPushType', refused, 'the push type is invalid'],
  [400, 'MissingDeviceToken', refused, 'there is no device token'],
  [400, 'MissingTopic', refused, 'there is no topic'],
  [400, 'PayloadEmpty', refused, 'there is no payload'],
  [400, 'TopicDisallowed', refused, 'notifications to this topic are not allowed'],
  [403, 'BadCertificate', paused, 'the certificate is invalid'],
  [403, 'BadCertificateEnvironment', paused, 'the certificate is for the other environment'],
  [403, 'BadEnvironmentKeyIdInToken', paused, 'the key is for the other environment'],
  [403, 'BadEnvironmentKeyInToken', paused, 'the key is for the other environment'],
  [403, 'ExpiredProviderToken', { ...paused, credential: 'renew' }, 'the provider token is too old'],
  [403, 'Forbidden', paused, 'this is not allowed'],
  [403, 'InvalidProviderToken', paused, 'the provider token is invalid: the key, its id or the team is wrong'],
  [403, 'MissingProviderToken', paused, 'there is no provider token'],
  [
    403,
    'UnrelatedKeyIdInToken',
    { ...paused, retire: true },
    'the key id differs from the first one of this connection',
  ],
  [404, 'BadPath', refused, 'the path is invalid'],
  [405, 'MethodNotAllowed', refused, 'the method is not POST'],
  [410, 'ExpiredToken', endedIfLater, 'the device token has expired'],
  [410, 'Unregistered', endedIfLater, 'the device token is no longer active for the topic'],
  [413, 'PayloadTooLarge', refused, 'the payload is too large'],
  [429, 'TooManyProviderTokenUpdates', { ...paused, retire: true }, 'the provider token changes too often'],
  [429, 'TooManyRequests', failed, 'there were too many notifications for this device'],
  [500, 'InternalServerError', broken, 'internal error at Apple'],
  [503, 'ServiceUnavailable', broken, 'the service is not available'],
  [503, 'Shutdown', unavailable, 'the server is shutting down'],
];

const rules = new Map(answers.map(([status, reason, rule, meaning]) => [`${status} ${reason}`, { rule, meaning }]));

export interface AppleAnswer {
  readonly status: number;
  readonly body: string;
  readonly registeredAt: Date;
}

export function ruleOn({ status, body, registeredAt }: AppleAnswer): Ruling {
  const { reason, timestamp } = readBody(body);
  const found = reason === null ? undefined : rules.get(`${status} ${reason}`);
  const rule = found?.rule ?? ruleByStatus(status);
  const verdict = rule.verdict === 'ended if later' ? endedOrFailed(timestamp, registeredAt) : rule.verdict;
  if (verdict === 'delivered') return { ...rule, verdict, error: null };
  const what = [String(status), ...(reason === null ? [] : [reason])].join(' ');
  return { ...rule, verdict, error: `Apple answered ${what}${found === undefined ? '' : `: ${found.meaning}`}` };
}

/** For reasons that Apple may add, and for answers of proxies. */
function ruleByStatus(status: number): Rule {
  if (status >= 200 && status < 300) return delivered;
  if (status === 401 || status === 403 || status === 407) return paused;
  if (status === 408 || status === 429) return failed;
  if (status === 410) return endedIfLater;
  if (status >= 500) return broken;
  return status >= 400 ? refused : failed;
}

/**
 * A device may get a token back that Apple had invalidated before. If the webhook was registered after that, or Apple gives no
 * timestamp, the delivery is retried like any failed one, until the webhook has failed for too long.
 */
function endedOrFailed(timestamp: number | null, registeredAt: Date): 'ended' | 'failed' {
  return timestamp !== null && timestamp > registeredAt.getTime() ? 'ended' : 'failed';
}

const reasonPattern = /^\w{1,64}$/;

/** `timestamp` is in milliseconds. Both are `null` if the body is not in Apple's format. */
function readBody(body: string): { reason: string | null; timestamp: number | null } {
  try {
    const parsed: unknown = JSON.parse(body);
    const fields: Readonly<Record<string, unknown>> =
      typeof parsed === 'object' && parsed !== null ? { ...parsed } : {};
    const { reason, timestamp } = fields;
    return {
      reason: typeof reason === 'string' && reasonPattern.test(reason) ? reason : null,
      timestamp: typeof timestamp === 'number' ? timestamp : null,
    };
  } catch {
    return { reason: null, timestamp: null };
  }
}
