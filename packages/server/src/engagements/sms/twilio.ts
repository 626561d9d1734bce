import type { LookupFunction } from 'node:net';
import { Agent, fetch, type Response } from 'undici';
import type { Config } from '../../config.ts';
import type { Carrier, OutgoingSms, Sending } from './carrier.ts';
import { readable, type Receipt } from './sms.ts';

export type TwilioSettings = NonNullable<Config['twilio']>;

/** From connecting to the last byte of the answer. */
const sendTimeoutMs = 10_000;
/** Of an answer no more is read: one with a message in it has about a kilobyte. */
const mostAnswerBytes = 65_536;
/** Longer than this a `Retry-After` is not heeded: our own patience is shorter. */
const longestRetryAfterSec = 300;

export const statusPath = '/carriers/twilio/status';
export const inboundPath = '/carriers/twilio/inbound';

/** Twilio's messages API, or whatever speaks it at the base URL. */
export function twilioCarrier(settings: TwilioSettings, lookup: LookupFunction): Carrier {
  const { baseUrl, accountSid, authToken, publicUrl } = settings;
  const url = `${baseUrl}/2010-04-01/Accounts/${accountSid}/Messages.json`;
  const authorization = `Basic ${Buffer.from(`${accountSid}:${authToken}`).toString('base64')}`;
  const dispatcher = new Agent({ connect: { lookup, allowH2: false } });
  return {
    close: async () => dispatcher.destroy(),
    async send({ id, from, to, body }: OutgoingSms, stopping: AbortSignal): Promise<Sending> {
      // Receipts name our id, because one may come before we have been told the carrier's, or after a crash instead.
      const form = new URLSearchParams({ From: from, To: to, Body: body });
      form.set('StatusCallback', `${publicUrl}${statusPath}?id=${id}`);
      try {
        const response = await fetch(url, {
          method: 'POST',
          headers: { authorization, accept: 'application/json' },
          body: form,
          dispatcher,
          redirect: 'manual',
          signal: AbortSignal.any([stopping, AbortSignal.timeout(sendTimeoutMs)]),
        });
        const answer = await readAnswer(response);
        return judge(response, answer);
      } catch (error) {
        return { outcome: 'postponed', why: `The carrier cannot be reached (${nameOf(error)}).`, afterMs: null };
      }
    },
  };
}

/** Once the carrier has taken the message, an answer that is cut short must not make us send it again. */
function judge(response: Response, answer: Readonly<Record<string, unknown>>): Sending {
  if (response.ok) return { outcome: 'sent', sid: sidIn(answer['sid']) };
  const { status } = response;
  if (status === 429 || status === 408 || status >= 500)
    return { outcome: 'postponed', why: inWords(status, answer), afterMs: retryAfterMs(response) };
  return { outcome: 'refused', why: inWords(status, answer) };
}

async function readAnswer(response: Response): Promise<Record<string, unknown>> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const chunk of response.body ?? []) {
      chunks.push(chunk);
      bytes += chunk.byteLength;
      if (bytes > mostAnswerBytes) return {};
    }
    const parsed: unknown = JSON.parse(Buffer.concat(chunks).toString());
    return typeof parsed === 'object' && parsed !== null ? { ...parsed } : {};
  } catch {
    return {};
  }
}

const sidForm = /^[A-Za-z0-9]{2,64}$/;

export function sidIn(value: unknown): string | null {
  return typeof value === 'string' && sidForm.test(value) ? value : null;
}

function inWords(status: number, { code, message }: Readonly<Record<string, unknown>>): string {
  const numbered = typeof code === 'number' ? ` ${code}` : '';
  return readable(`The carrier says${numbered}: ${typeof message === 'string' ? message : `status ${status}`}`);
}

function retryAfterMs({ headers }: Response): number | null {
  const seconds = headers.get('retry-after') ?? '';
  return /^\d{1,6}$/.test(seconds) ? Math.min(Number(seconds), longestRetryAfterSec) * 1000 : null;
}

function nameOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  const { cause } = error;
  return cause instanceof Error && 'code' in cause ? String(cause.code) : error.name;
}

/** What a status callback says. `null`: nothing we know of, which Twilio announces to add to. */
export function receiptIn(status: string | null, errorCode: string | null): Receipt | null {
  switch (status) {
    case 'delivered':
    case 'read':
      return { kind: 'delivered' };
    case 'failed':
    case 'undelivered':
    case 'canceled': {
      const numbered = errorCode !== null && /^\d{1,9}$/.test(errorCode) ? ` (${errorCode})` : '';
      return { kind: 'failed', why: `The carrier says: ${status}${numbered}` };
    }
    case 'sent':
    case 'sending':
    case 'queued':
    case 'accepted':
    case 'scheduled':
      return { kind: 'taken' };
    default:
      return null;
  }
}
