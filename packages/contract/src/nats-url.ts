/** A parsed URL `nats://<host>:<port>/<subject>` or `tls://…`. */
export interface NatsUrl {
  readonly isSecure: boolean;
  /** In lower case; an IPv6 address in brackets. */
  readonly hostname: string;
  readonly port: number;
  /** Empty: the URL has no subject. */
  readonly subject: string;
}

const defaultPort = 4_222;
const maxSubjectLength = 255;

const form = /^(nats|tls):\/\/(\[[0-9a-f:.]+\]|[^\s/?#@:[\]]+)(?::(\d{1,5}))?(?:\/(.*))?$/i;

/**
 * Names separated by dots, without wildcards. `$` is not allowed, because messages to `$JS.API` or `$SYS` are commands to the server;
 * `_INBOX` is not allowed, because it is for replies.
 */
const subjectForm = /^(?!_INBOX\b)[\w-]+(?:\.[\w-]+)*$/i;

/** Parses without checking the subject. `null`: not a URL of a NATS server. */
export function parseNatsUrl(url: string): NatsUrl | null {
  const [, scheme = '', host = '', port = String(defaultPort), subject = ''] = form.exec(url) ?? [];
  // Parsing the host as part of an http URL normalises names and addresses.
  if (!URL.canParse(`http://${host}`) || Number(port) < 1 || Number(port) > 65_535) return null;
  const { hostname } = new URL(`http://${host}`);
  return { isSecure: scheme.toLowerCase() === 'tls', hostname, port: Number(port), subject };
}

export function natsSubjectFault(subject: string): string | null {
  if (subject.length <= maxSubjectLength && subjectForm.test(subject)) return null;
  return `may have letters, digits, - and _, separated by dots, no wildcards, and at most ${maxSubjectLength} characters`;
}

/** What is wrong with a URL that begins with nats:// or tls://. */
export function natsUrlFault(url: string): string | null {
  if (/^[^:]*:\/\/[^/?#]*@/.test(url)) return 'must not contain a user name or password; use credentials instead';
  const parsed = parseNatsUrl(url);
  if (parsed === null) return 'must look like nats://<host>:<port>/<subject> or tls://<host>:<port>/<subject>';
  const fault = natsSubjectFault(parsed.subject);
  return fault === null ? null : `must end with a subject, which ${fault}`;
}
