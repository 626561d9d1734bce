import type { Webhook } from '@usher/sdk/api-types';
import { maxUrlLength } from '@usher/contract/limits';
import { characterFault, httpUrlFault, schemeOf } from '@usher/contract/webhook-url';
import { texts } from '../texts.ts';
import { signatureHeaders, type Channel } from './channel.ts';
import { headersFaults, type Header } from './headers.ts';

type Method = NonNullable<Webhook['method']>;
const methods: readonly Method[] = ['POST', 'PUT', 'PATCH', 'DELETE'];

export interface HttpDraft {
  readonly url: string;
  readonly method: Method;
  readonly headers: readonly Header[];
}

const schemes = ['http', 'https'];
const agent = 'Usher-Webhooks/1';

export const http = {
  kind: 'http',
  schemes,
  label: texts.httpRequest,
  isSigned: true,
  whyEnded: texts.answeredGone,
  empty: { url: '', method: 'POST', headers: [] },
  inputs: [
    [
      {
        type: 'choice',
        pointer: '/method',
        label: texts.method,
        width: 110,
        options: () => methods.map((method) => ({ value: method, label: method })),
        get: ({ method }) => method,
        set: (value) => ({ method: methods.find((method) => method === value) ?? 'POST' }),
      },
      {
        type: 'text',
        pointer: '/url',
        label: texts.urlLabel,
        placeholder: 'https://example.com/usher',
        isUrl: true,
        get: ({ url }) => url,
        set: (url) => ({ url }),
      },
    ],
    [
      {
        type: 'headers',
        pointer: '/headers',
        label: texts.headers,
        get: ({ headers }) => headers,
        set: (headers) => ({ headers }),
      },
    ],
  ],
  views: {
    url: { label: texts.urlLabel, show: (url) => url },
    method: { label: texts.method, show: (method) => method },
    headers: {
      label: texts.headers,
      show: (headers) => headers.map(({ name, value }) => `${name}: ${value}`).join('\n') || texts.noneValue,
    },
  },
  draftOf: ({ url, method, headers }) => ({
    url,
    method: method ?? 'POST',
    headers: Object.entries(headers ?? {}).map(([name, value]) => ({ name, value })),
  }),
  bodyOf: ({ url, method, headers }) => ({
    url,
    method,
    headers: Object.fromEntries(headers.map(({ name, value }) => [name, value])),
  }),
  faultsOf: ({ url, headers }) => [['/url', urlFault(url)], ...headersFaults(headers)],
  badgeOf: ({ method }) => method ?? '',
  requestOf({ url, method, headers }, event) {
    const own = Object.entries(headers ?? {});
    const isNamed = own.some(([name]) => name.toLowerCase() === 'user-agent');
    return {
      line: `${method} ${url}`,
      headers: [
        ['content-type', 'application/json'],
        ...(isNamed ? [] : [['user-agent', agent] as const]),
        ...own,
        ...signatureHeaders(event),
      ],
    };
  },
} satisfies Channel<HttpDraft>;

function urlFault(url: string): string | null {
  if (url.length > maxUrlLength) return texts.atMostCharacters(maxUrlLength);
  const isHttp = schemes.includes(schemeOf(url));
  return characterFault(url) ?? (isHttp ? httpUrlFault(url) : texts.invalidHttpUrl);
}
