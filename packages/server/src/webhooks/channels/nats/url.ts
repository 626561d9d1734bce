import { isIP } from 'node:net';
import { bareHost } from '../../../platform/address-guard.ts';

/** `nats://<host>:<port>/<subject>`, or `tls://…`, taken apart. */
export interface NatsTarget {
  /** As sockets take it. */
  readonly host: string;
  readonly port: number;
  readonly isSecure: boolean;
  /** Empty in an origin. */
  readonly subject: string;
}

const usualPort = 4_222;
const longestSubject = 255;

const form = /^(nats|tls):\/\/(\[[0-9a-f:.]+\]|[^\s/?#@:[\]]+)(?::(\d{1,5}))?(?:\/(.*))?$/i;
/**
 * Names between dots. No wildcards; and no `$`, as what is published to `$JS.API` or `$SYS` is a command to the server. Inboxes
 * are for answers.
 */
const subjectForm = /^(?!_INBOX\b)[\w-]+(?:\.[\w-]+)*$/i;

/** The target, or everything that is wrong with the URL. */
export function parseNatsUrl(url: string): NatsTarget | { readonly faults: readonly string[] } {
  const target = parseNatsOrigin(url);
  if (target === null) return { faults: [urlFault(url)] };
  const { subject } = target;
  return subject.length <= longestSubject && subjectForm.test(subject) ? target : { faults: [subjectFault] };
}

/** The same of a URL whose subject nobody looks at, or that has none; `null`: it is not such a URL. */
export function parseNatsOrigin(url: string): NatsTarget | null {
  const [, scheme = '', host = '', port = String(usualPort), subject = ''] = form.exec(url) ?? [];
  // Parsed as the host of an http URL, names are in lower case and addresses in their one spelling.
  if (!URL.canParse(`http://${host}`) || Number(port) < 1 || Number(port) > 65_535) return null;
  return {
    host: bareHost(new URL(`http://${host}`)),
    port: Number(port),
    isSecure: scheme.toLowerCase() === 'tls',
    subject,
  };
}

export function natsOrigin({ host, port, isSecure }: NatsTarget): string {
  return `${isSecure ? 'tls' : 'nats'}://${isIP(host) === 6 ? `[${host}]` : host}:${port}`;
}

const subjectFault =
  'must end with a subject, such as nats://example.com/usher.events: letters, digits, - and _ between dots, no wildcards, ' +
  `${longestSubject} characters at most`;

function urlFault(url: string): string {
  return /^[^:]*:\/\/[^/?#]*@/.test(url)
    ? 'must not contain a user name or password: give them in credentials'
    : 'must look like nats://<host>:<port>/<subject> or tls://<host>:<port>/<subject>';
}
