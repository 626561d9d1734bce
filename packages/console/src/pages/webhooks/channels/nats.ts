import { natsSubjectFault, parseNatsUrl } from '@usher/contract/nats-url';
import { characterFault } from '@usher/contract/webhook-url';
import { signatureHeaders, type Channel, type Input } from './channel.ts';

/** `kept`: as the server has it stored, and does not show it. */
type SignIn = 'kept' | 'none' | 'password' | 'token';

interface NatsTarget {
  /** `nats://example.com:4222`. */
  readonly server: string;
  readonly subject: string;
  readonly signIn: SignIn;
  readonly user: string;
  readonly password: string;
  readonly token: string;
  /** Of a webhook whose credentials are stored: the server that they are for. */
  readonly knownAt: string | null;
}

export interface NatsDraft {
  readonly nats: NatsTarget;
}

const signIns: readonly { readonly value: SignIn; readonly label: string }[] = [
  { value: 'kept', label: 'With the stored credentials' },
  { value: 'none', label: 'Without credentials' },
  { value: 'password', label: 'With user and password' },
  { value: 'token', label: 'With a token' },
];

export const nats = {
  kind: 'nats',
  schemes: ['nats', 'tls'],
  label: 'NATS stream',
  isSigned: true,
  whyEnded: 'the stream has ended',
  empty: {
    nats: { server: '', subject: '', signIn: 'none', user: '', password: '', token: '', knownAt: null },
  },
  inputs: [
    [
      text('server', { pointer: '/server', label: 'Server', placeholder: 'tls://nats.example.com:4222', isUrl: true }),
      text('subject', {
        pointer: '/subject',
        label: 'Subject',
        description: 'A JetStream stream must take it',
        placeholder: 'usher.events',
      }),
      {
        type: 'choice',
        pointer: '/credentials',
        label: 'Sign in',
        options: ({ nats: { knownAt } }) => signIns.filter(({ value }) => value !== 'kept' || knownAt !== null),
        get: ({ nats: { signIn } }) => signIn,
        set: (value, { nats: target }) => ({
          nats: { ...target, signIn: signIns.find((each) => each.value === value)?.value ?? 'none' },
        }),
      },
    ],
    [
      text('user', { pointer: '/user', label: 'User' }, 'password'),
      text('password', { pointer: '/password', label: 'Password', type: 'password' }, 'password'),
      text('token', { pointer: '/token', label: 'Token', type: 'password' }, 'token'),
    ],
  ],
  views: { nats: { label: 'Stream', show: urlOf } },
  draftOf({ url, has_credentials: hasCredentials }) {
    const { server, subject } = split(url);
    const signIn = hasCredentials ? 'kept' : 'none';
    const empty = { user: '', password: '', token: '' };
    return { nats: { server, subject, signIn, ...empty, knownAt: hasCredentials ? server : null } };
  },
  bodyOf: ({ nats: target }) => ({ url: urlOf(target), ...credentialsOf(target) }),
  faultsOf: ({ nats: { server, subject, signIn, user, password, token, knownAt } }) => [
    ['/server', serverFault(server)],
    ['/subject', natsSubjectFault(subject)],
    ['/credentials', signIn === 'kept' && server !== knownAt ? 'are for another server: give those of this one' : null],
    ['/user', signIn === 'password' && user === '' ? 'is missing' : null],
    ['/password', signIn === 'password' && password === '' ? 'is missing' : null],
    ['/token', signIn === 'token' && token === '' ? 'is missing' : null],
  ],
  urlOf: ({ nats: target }) => (target.server === '' && target.subject === '' ? '' : urlOf(target)),
  badgeOf: () => 'NATS',
  requestOf({ id, url }, event) {
    const { server, subject } = split(url);
    return {
      line: `A message to ${subject} at ${server}`,
      headers: [['Nats-Msg-Id', `${id}.${event.id}`], ['Content-Type', 'application/json'], ...signatureHeaders(event)],
    };
  },
} satisfies Channel<NatsDraft>;

type TextInput = Extract<Input<NatsDraft>, { type: 'text' | 'password' }>;

function text(
  name: 'server' | 'subject' | 'user' | 'password' | 'token',
  shown: Pick<TextInput, 'pointer' | 'label' | 'description' | 'placeholder' | 'isUrl'> & { type?: TextInput['type'] },
  onlyWith?: SignIn,
): TextInput {
  return {
    type: 'text',
    ...shown,
    get: ({ nats: target }) => target[name],
    set: (value, { nats: target }) => ({ nats: { ...target, [name]: value } }),
    isShown: ({ nats: { signIn } }) => onlyWith === undefined || signIn === onlyWith,
  };
}

function urlOf({ server, subject }: NatsTarget): string {
  return `${server.replace(/\/$/, '')}/${subject}`;
}

function split(url: string): { readonly server: string; readonly subject: string } {
  const { subject = '' } = parseNatsUrl(url) ?? {};
  return { server: url.slice(0, url.length - subject.length - 1), subject };
}

function credentialsOf({ signIn, user, password, token }: NatsTarget): { credentials?: object | null } {
  switch (signIn) {
    case 'kept':
      return {};
    case 'none':
      return { credentials: null };
    case 'password':
      return { credentials: { user, password } };
    case 'token':
      return { credentials: { token } };
  }
}

function serverFault(server: string): string | null {
  const character = characterFault(server);
  if (character !== null) return character;
  if (server.includes('@')) return 'must not contain a user name or password';
  const parsed = parseNatsUrl(server);
  return parsed === null || parsed.subject !== '' ? 'must look like nats://example.com:4222, or tls:// with TLS' : null;
}
