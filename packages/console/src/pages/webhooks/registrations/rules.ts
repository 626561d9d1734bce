import { maxUrlLength } from '@usher/contract/limits';
import { headerFaults, headerLimits, headerSizeFault } from '@usher/contract/webhook-headers';
import { characterFault, httpUrlFault, schemeOf } from '@usher/contract/webhook-url';

/** What the server would refuse of a webhook, said while it is typed. */

export interface Violation {
  readonly attribute: string;
  readonly detail: string;
}

export function urlFault(url: string): string | null {
  if (url.length > maxUrlLength) return `must not have more than ${maxUrlLength} characters`;
  const character = characterFault(url);
  if (character !== null) return character;
  const isHttp = ['http', 'https'].includes(schemeOf(url));
  return isHttp ? httpUrlFault(url) : 'must be an http or https URL, protocol included';
}

export interface PushTarget {
  readonly deviceToken: string;
  readonly topic: string;
  readonly environment: 'sandbox' | 'production';
  readonly silent: boolean;
  /** The URL that the target was read from. */
  readonly storedUrl?: string;
}

/**
 * The URL of the target. A stored one stays as it is while nobody has edited the target: a webhook with another URL hears only of
 * the sites of whoever saved it. Of an edited one, parameters that have no field here are kept.
 */
export function pushUrl(target: PushTarget): string {
  const { deviceToken, topic, environment, silent, storedUrl } = target;
  if (storedUrl !== undefined && isSameTarget(pushTarget(storedUrl), target)) return storedUrl;
  const further = new URLSearchParams(pushShape.exec(storedUrl ?? '')?.[3] ?? '');
  for (const name of ['env', 'content_available']) further.delete(name);
  const rest = further.size === 0 ? '' : `&${further.toString()}`;
  return `apns://${deviceToken}@${topic}?env=${environment}${silent ? '&content_available=true' : ''}${rest}`;
}

function isSameTarget(one: PushTarget, other: PushTarget): boolean {
  return (['deviceToken', 'topic', 'environment', 'silent'] as const).every((field) => one[field] === other[field]);
}

const pushShape = /^apns:\/\/([^@]*)@([^?]*)(?:\?(.*))?$/i;

/** Of a URL that the server has taken. */
export function pushTarget(url: string): PushTarget {
  const [, deviceToken = '', topic = '', query = ''] = pushShape.exec(url) ?? [];
  const parameters = new URLSearchParams(query);
  return {
    deviceToken,
    topic,
    environment: parameters.get('env') === 'production' ? 'production' : 'sandbox',
    silent: ['true', '1'].includes((parameters.get('content_available') ?? '').toLowerCase()),
    storedUrl: url,
  };
}

export function deviceTokenFault(token: string): string | null {
  return /^[\w-]{1,200}$/.test(token) ? null : 'has letters, digits, _ and - only, 200 at most';
}

export function topicFault(topic: string): string | null {
  return /^[A-Za-z0-9._-]{1,255}$/.test(topic) ? null : 'is a bundle id: letters, digits, dots, _ and - only';
}

export interface Header {
  readonly name: string;
  readonly value: string;
}

type Entry = readonly [name: string, value: string];
const entryOf = ({ name, value }: Header): Entry => [name, value];

/** What is wrong with one header among all. */
export function headerFault(header: Header, all: readonly Header[]): string | null {
  const [fault] = headerFaults(entryOf(header), all.map(entryOf));
  if (fault !== undefined) return fault;
  return all.filter(({ name }) => name === header.name).length > 1 ? 'is there twice' : null;
}

/** What is wrong with all of them together. */
export function headersFault(all: readonly Header[]): string | null {
  if (all.length > headerLimits.count) return `must not have more than ${headerLimits.count}`;
  return headerSizeFault(all.map(entryOf));
}
