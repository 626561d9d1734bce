import { storable, type Attempt } from '../attempt.ts';
import type { Reply } from './connection.ts';

/** What an answer of a NATS server comes to. */
type Outcome = Omit<Attempt, 'durationMs'>;
type Rule = Pick<Outcome, 'verdict' | 'unavailable'>;

/** Somebody answered: the next event may be taken, and other subjects of the same server too. */
const failed: Rule = { verdict: 'failed', unavailable: false };
const away: Rule = { verdict: 'failed', unavailable: true };
/** It will not be taken however often it is sent. */
const refused: Rule = { verdict: 'refused', unavailable: false };

/** What the server says of the connection (`-ERR`), by how it begins, in lower case; anything else is `away`. */
export const serverErrors: readonly (readonly [start: string, rule: Rule, meaning: string])[] = [
  ['authorization violation', failed, 'the credentials are wrong or missing'],
  ['authentication timeout', away, 'the server had no time to check the credentials'],
  ['user authentication expired', failed, 'the credentials have expired'],
  ['user authentication revoked', failed, 'the credentials have been revoked'],
  ['account authentication expired', failed, 'the account of the credentials has expired'],
  ['permissions violation for publish', failed, 'the credentials do not permit to publish to the subject'],
  ['permissions violation for subscription', failed, 'the credentials do not permit to subscribe to _INBOX.>'],
  ['secure connection', failed, 'the server requires TLS: register a tls:// URL'],
  ['maximum payload violation', refused, 'the event is larger than the server takes'],
  ['maximum connections exceeded', away, 'the server has too many connections'],
  ['maximum account active connections exceeded', away, 'the account has too many connections'],
];

/** What a stream answers, by JetStream's `err_code`; anything else is `failed`, in the words of the server. */
export const streamErrors: readonly (readonly [code: number, rule: Rule, meaning: string])[] = [
  [10_008, away, 'JetStream is temporarily unavailable'],
  [10_009, away, 'the cluster has no leader'],
  [10_023, away, 'the server lacks resources'],
  [10_028, away, 'the server has no memory left'],
  [10_047, away, 'the server has no storage left'],
  [10_054, refused, 'the event is larger than the stream takes'],
  [10_097, refused, 'the headers are larger than the stream takes'],
];

export function ruleOn(reply: Reply, subject: string): Outcome {
  switch (reply.kind) {
    case 'answered':
      return ruleOnAnswer(reply.body);
    case 'no responders':
      return outcome(failed, `no stream takes the subject ${subject}`, { status: 503 });
    case 'too large':
      return outcome(refused, `the event is larger than the ${reply.mostBytes} bytes that the server takes`);
    case 'late':
      return outcome(away, `no acknowledgement within ${reply.answerMs / 1_000} seconds`, { timedOut: true });
    case 'forbidden':
      return outcome({ verdict: 'failed', unavailable: null }, 'the address may not be called');
    case 'lost':
      return outcome(away, reply.error);
    case 'refused': {
      const [, rule, meaning] = serverErrors.find(([start]) => reply.error.toLowerCase().startsWith(start)) ?? [];
      return outcome(rule ?? away, said(reply.error, meaning));
    }
  }
}

function ruleOnAnswer(body: Buffer): Outcome {
  const answer = storable(body);
  const { stream, seq, error } = readAnswer(body);
  if (error !== null) {
    const [, rule, meaning] = streamErrors.find(([code]) => code === error.errCode) ?? [];
    return outcome(rule ?? failed, said(error.description, meaning), { status: error.code, answer });
  }
  if (stream === '' || seq === null)
    return outcome(failed, 'the answer is not the acknowledgement of a stream', { answer });
  // An acknowledgement has no code; JetStream's codes for errors are those of HTTP.
  return { ...outcome(failed, null, { status: 200, answer }), verdict: 'delivered' };
}

function said(text: string, meaning: string | undefined): string {
  return `the server said “${text}”${meaning === undefined ? '' : `: ${meaning}`}`;
}

function outcome(rule: Rule, error: string | null, more: Partial<Outcome> = {}): Outcome {
  return { ...rule, status: null, answer: null, error, retryAfterMs: null, ...more };
}

interface StreamAnswer {
  readonly stream: string;
  readonly seq: number | null;
  readonly error: { readonly code: number | null; readonly errCode: number; readonly description: string } | null;
}

const longestDescription = 300;

/** Whatever is in it: anybody may answer on a subject. */
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
            description: typeof description === 'string' ? description.slice(0, longestDescription) : '',
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
