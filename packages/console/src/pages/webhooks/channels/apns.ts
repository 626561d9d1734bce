import { texts } from '../texts.ts';
import type { Channel } from './channel.ts';

interface PushTarget {
  readonly deviceToken: string;
  readonly topic: string;
  readonly environment: 'sandbox' | 'production';
  readonly silent: boolean;
  /** The URL that the target was parsed from. */
  readonly storedUrl?: string;
}

export interface PushDraft {
  readonly push: PushTarget;
}

export const apns = {
  kind: 'apns',
  schemes: ['apns'],
  label: texts.applePushNotification,
  isSigned: false,
  whyEnded: texts.deviceTokenEnded,
  empty: { push: { deviceToken: '', topic: '', environment: 'sandbox', silent: false } },
  inputs: [
    [
      {
        type: 'text',
        pointer: '/device_token',
        label: texts.deviceToken,
        get: ({ push }) => push.deviceToken,
        set: (deviceToken, { push }) => ({ push: { ...push, deviceToken } }),
      },
      {
        type: 'text',
        pointer: '/topic',
        label: texts.topic,
        description: texts.bundleId,
        placeholder: 'com.example.App',
        get: ({ push }) => push.topic,
        set: (topic, { push }) => ({ push: { ...push, topic } }),
      },
      {
        type: 'choice',
        pointer: '/environment',
        label: texts.apnsEnvironment,
        options: () => [
          { value: 'sandbox', label: texts.sandbox },
          { value: 'production', label: texts.production },
        ],
        get: ({ push }) => push.environment,
        set: (value, { push }) => ({
          push: { ...push, environment: value === 'production' ? 'production' : 'sandbox' },
        }),
      },
      {
        type: 'checkbox',
        pointer: '/silent',
        label: texts.silent,
        description: texts.silentHelp,
        get: ({ push }) => push.silent,
        set: (silent, { push }) => ({ push: { ...push, silent } }),
      },
    ],
  ],
  views: { push: { label: texts.device, show: pushUrl } },
  draftOf: ({ url }) => ({ push: pushTarget(url) }),
  bodyOf: ({ push }) => ({ url: pushUrl(push) }),
  faultsOf: ({ push }) => [
    ['/device_token', deviceTokenFault(push.deviceToken)],
    ['/topic', topicFault(push.topic)],
  ],
  urlOf: ({ push }) => (push.deviceToken === '' && push.topic === '' ? '' : pushUrl(push)),
  badgeOf: () => texts.applePush,
  requestOf: ({ url }) => ({ line: texts.applePushNotification, headers: [['to', url]] }),
} satisfies Channel<PushDraft>;

/**
 * The URL of the target. A stored URL is kept unless the target was edited, because a webhook with a new URL receives only events
 * of sites of the operator who saved it. Parameters without a field here are kept, too.
 */
function pushUrl(target: PushTarget): string {
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

/** Parses a URL that the server has accepted. */
function pushTarget(url: string): PushTarget {
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

function deviceTokenFault(token: string): string | null {
  return /^[\w-]{1,200}$/.test(token) ? null : texts.invalidDeviceToken;
}

function topicFault(topic: string): string | null {
  return /^[A-Za-z0-9._-]{1,255}$/.test(topic) ? null : texts.invalidBundleId;
}
