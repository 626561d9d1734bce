import { natsSubjectFault, parseNatsUrl } from '@usher/contract/nats-url';
import { characterFault } from '@usher/contract/webhook-url';
import { texts } from '../texts.ts';
import { signatureHeaders, type Channel, type Input } from './channel.ts';

/** `stored`: stored by the server, which does not show it. */
type SignIn = 'stored' | 'none' | 'password' | 'token';

interface NatsTarget {
  /** `nats://example.com:4222`. */
  readonly server: string;
  readonly subject: string;
  readonly signIn: SignIn;
  readonly user: string;
  readonly password: string;
  readonly token: string;
  /** The server that the stored credentials are for. */
  readonly storedFor: string | null;
}

export interface NatsDraft {
  readonly nats: NatsTarget;
}

const signIns: readonly { readonly value: SignIn; readonly label: string }[] = [
  { value: 'stored', label: texts.storedCredentials },
  { value: 'none', label: texts.noCredentials },
  { value: 'password', label: texts.userAndPassword },
  { value: 'token', label: texts.token },
];

export const nats = {
  kind: 'nats',
  schemes: ['nats', 'tls'],
  label: texts.natsStream,
  isSigned: true,
  whyEnded: texts.streamWasDeleted,
  empty: {
    nats: { server: '', subject: '', signIn: 'none', user: '', password: '', token: '', storedFor: null },
  },
  inputs: [
    [
      text('server', {
        pointer: '/server',
        label: texts.server,
        placeholder: 'tls://nats.example.com:4222',
        isUrl: true,
      }),
      text('subject', {
        pointer: '/subject',
        label: texts.subject,
        description: texts.subjectHelp,
        placeholder: 'usher.events',
      }),
      {
        type: 'choice',
        pointer: '/credentials',
        label: texts.authentication,
        options: ({ nats: { storedFor } }) => signIns.filter(({ value }) => value !== 'stored' || storedFor !== null),
        get: ({ nats: { signIn } }) => signIn,
        set: (value, { nats: target }) => ({
          nats: { ...target, signIn: signIns.find((each) => each.value === value)?.value ?? 'none' },
        }),
      },
    ],
    [
      text('user', { pointer: '/user', label: texts.user }, 'password'),
      text('password', { pointer: '/password', label: texts.password, type: 'password' }, 'password'),
      text('token', { pointer: '/token', label: texts.token, type: 'password' }, 'token'),
    ],
  ],
  views: { nats: { label: texts.stream, show: urlOf } },
  draftOf({ url, has_credentials: hasCredentials = false }) {
    const { server, subject } = split(url);
    const signIn = hasCredentials ? 'stored' : 'none';
    const empty = { user: '', password: '', token: '' };
    return { nats: { server, subject, signIn, ...empty, storedFor: hasCredentials ? server : null } };
  },
  bodyOf: ({ nats: target }) => ({ url: urlOf(target), ...credentialsOf(target) }),
  faultsOf: ({ nats: { server, subject, signIn, user, password, token, storedFor } }) => [
    ['/server', serverFault(server)],
    ['/subject', natsSubjectFault(subject)],
    ['/credentials', signIn === 'stored' && server !== storedFor ? texts.credentialsOfAnotherServer : null],
    ['/user', signIn === 'password' && user === '' ? texts.required : null],
    ['/password', signIn === 'password' && password === '' ? texts.required : null],
    ['/token', signIn === 'token' && token === '' ? texts.required : null],
  ],
  urlOf: ({ nats: target }) => (target.server === '' && target.subject === '' ? '' : urlOf(target)),
  badgeOf: () => 'NATS',
  requestOf({ id, url }, event) {
    const { server, subject } = split(url);
    return {
      line: texts.messageTo(subject, server),
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
    case 'stored':
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
  if (server.includes('@')) return texts.noCredentialsInUrl;
  const parsed = parseNatsUrl(server);
  return parsed === null || parsed.subject !== '' ? texts.invalidNatsUrl : null;
}
