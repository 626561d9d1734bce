/** `nats://<host>:<port>/<subject>`, or `tls://…`, taken apart. */
export interface NatsUrl {
  readonly isSecure: boolean;
  /** As a URL has it: in lower case, an IPv6 address in brackets. */
  readonly hostname: string;
  readonly port: number;
  /** Empty if there is none. */
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

/** Whatever the subject is, of which there may be none; `null`: this is no URL of a NATS server. */
export function parseNatsUrl(url: string): NatsUrl | null {
  const [, scheme = '', host = '', port = String(usualPort), subject = ''] = form.exec(url) ?? [];
  // Parsed as the host of an http URL, a name is in lower case and an address in its one spelling.
  if (!URL.canParse(`http://${host}`) || Number(port) < 1 || Number(port) > 65_535) return null;
  const { hostname } = new URL(`http://${host}`);
  return { isSecure: scheme.toLowerCase() === 'tls', hostname, port: Number(port), subject };
}

export function natsSubjectFault(subject: string): string | null {
  if (subject.length <= longestSubject && subjectForm.test(subject)) return null;
  return `has letters, digits, - and _ between dots, no wildcards, ${longestSubject} characters at most`;
}

/** What is wrong with a URL that begins with nats:// or tls://. */
export function natsUrlFault(url: string): string | null {
  if (/^[^:]*:\/\/[^/?#]*@/.test(url)) return 'must not contain a user name or password: give them in credentials';
  const parsed = parseNatsUrl(url);
  if (parsed === null) return 'must look like nats://<host>:<port>/<subject> or tls://<host>:<port>/<subject>';
  const fault = natsSubjectFault(parsed.subject);
  return fault === null ? null : `must end with a subject, which ${fault}`;
}
