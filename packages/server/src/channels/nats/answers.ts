import { storable, type Attempt } from '../attempt.ts';
import type { Reply } from './connection.ts';

/** The outcome for each answer of a NATS server. */
type Outcome = Omit<Attempt, 'durationMs'>;
type Rule = Pick<Outcome, 'verdict' | 'unavailable'>;

/** The server answered: the next event may be accepted, and other subjects of the same server too. */
const failed: Rule = { verdict: 'failed', unavailable: false };
const unavailable: Rule = { verdict: 'failed', unavailable: true };
/** This event will never be accepted. */
const refused: Rule = { verdict: 'refused', unavailable: false };

/** Errors of the connection (`-ERR`), by their beginning in lower case; any other error is `unavailable`. */
export const serverErrors: readonly (readonly [start: string, rule: Rule, meaning: string])[] = [
  ['authorization violation', failed, 'the credentials are wrong or missing'],
  ['authentication timeout', unavailable, 'the server did not check the credentials in time'],
  ['user authentication expired', failed, 'the credentials have expired'],
  ['user authentication revoked', failed, 'the credentials have been revoked'],
  ['account authentication expired', failed, 'the account of the credentials has expired'],
  ['permissions violation for publish', failed, 'the credentials do not allow publishing to the subject'],
  ['permissions violation for subscription', failed, 'the credentials do not allow subscribing to _INBOX.>'],
  ['secure connection', failed, 'the server requires TLS: register a tls:// URL'],
  ['maximum payload violation', refused, 'the event is larger than the server accepts'],
  ['maximum connections exceeded', unavailable, 'the server has too many connections'],
  ['maximum account active connections exceeded', unavailable, 'the account has too many connections'],
];

/** Errors of a stream, by JetStream's `err_code`; any other error is `failed`, with the server's description. */
export const streamErrors: readonly (readonly [code: number, rule: Rule, meaning: string])[] = [
  [10_008, unavailable, 'JetStream is temporarily unavailable'],
  [10_009, unavailable, 'the cluster has no leader'],
  [10_023, unavailable, 'the server has insufficient resources'],
  [10_028, unavailable, 'the server has no memory left'],
  [10_047, unavailable, 'the server has no storage left'],
  [10_054, refused, 'the event is larger than the stream accepts'],
  [10_097, refused, 'the headers are larger than the stream accepts'],
];

export function ruleOn(reply: Reply, subject: string): Outcome {
  switch (reply.kind) {
    case 'answered':
      return ruleOnAnswer(reply.body);
    case 'no responders':
      return outcome(failed, `no stream has the subject ${subject}`, { status: 503 });
    case 'too large':
      return outcome(refused, `the event is larger than the ${reply.maxBytes} bytes that the server accepts`);
    case 'late':
      return outcome(unavailable, `no acknowledgement within ${reply.answerMs / 1_000} seconds`, { timedOut: true });
    case 'forbidden':
      return outcome({ verdict: 'failed', unavailable: null }, 'the address is not allowed');
    case 'lost':
      return outcome(unavailable, reply.error);
    case 'refused': {
      const [, rule, meaning] = serverErrors.find(([start]) => reply.error.toLowerCase().startsWith(start)) ?? [];
      return outcome(rule ?? unavailable, quote(reply.error, meaning));
    }
  }
}

function ruleOnAnswer(body: Buffer): Outcome {
  const answer = storable(body);
  const { stream, seq, error } = readAnswer(body);
  if (error !== null) {
    const [, rule, meaning] = streamErrors.find(([code]) => code === error.errCode) ?? [];
    return outcome(rule ?? failed, quote(error.description, meaning), { status: error.code, answer });
  }
  if (stream === '' || seq === null)
    return outcome(failed, 'the answer is not the acknowledgement of a stream', { answer });
  // An acknowledgement has no code; JetStream's codes for errors are those of HTTP.
  return { ...outcome(failed, null, { status: 200, answer }), verdict: 'delivered' };
}

function quote(text: string, meaning: string | undefined): string {
  return `the server answered “${text}”${meaning === undefined ? '' : `: ${meaning}`}`;
}

function outcome(rule: Rule, error: string | null, more: Partial<Outcome> = {}): Outcome {
  return { ...rule, status: null, answer: null, error, retryAfterMs: null, ...more };
}

interface StreamAnswer {
  readonly stream: string;
  readonly seq: number | null;
  readonly error: { readonly code: number | null; readonly errCode: number; readonly description: string } | null;
}

const maxDescriptionLength = 300;

/** Anybody may answer on a subject, so any body is possible. */
function readAnswer(body: Buffer): StreamAnswer {
  const { stream, seq, error } = fieldsOf(parse(body));
  const { code, err_code: errCode, description } = fieldsOf(error);
  return {
    stream: typeof stream === 'string' ? stream : '',
    seq: typeof seq === 'number' ? seq : null,
    error:
      typeof error !== 'object' || error === null
        ? null
        : {
            code: typeof code === 'number' && Number.isInteger(code) && code >= 100 && code < 600 ? code : null,
            errCode: typeof errCode === 'number' ? errCode : 0,
            description: typeof description === 'string' ? description.slice(0, maxDescriptionLength) : '',
          },
  };
}

function parse(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return null;
  }
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}
