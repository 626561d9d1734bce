import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Response } from 'undici';
import type {
  Carrier,
  CarrierKind,
  CarrierNetwork,
  Hook,
  HookRequest,
  InboundCall,
  OutgoingSms,
  Receipt,
  ReceiptCall,
  SendResult,
  SettingReader,
} from './carrier.ts';

const settings = [
  {
    name: 'USHER_TWILIO_BASE_URL',
    fallback: '',
    meaning: 'SMS carrier, `https://api.twilio.com` or a service with the same API; set all four or none',
  },
  { name: 'USHER_TWILIO_ACCOUNT_SID', fallback: '', meaning: 'Account SID at the carrier' },
  {
    name: 'USHER_TWILIO_AUTH_TOKEN',
    fallback: '',
    meaning: 'Auth token of that account; it also signs requests of the carrier',
  },
  {
    name: 'USHER_TWILIO_PUBLIC_URL',
    fallback: '',
    meaning:
      'Address at which the carrier reaches Usher, `https://usher.example.com`; it calls paths under `/carriers/twilio/`',
  },
] as const;

type TwilioSetting = (typeof settings)[number]['name'];

interface TwilioConfig {
  readonly twilio: TwilioSettings | null;
}

/** URLs have no trailing slash. */
interface TwilioSettings {
  readonly baseUrl: string;
  readonly accountSid: string;
  readonly authToken: string;
  /** The URL at which the carrier reaches Usher. */
  readonly publicUrl: string;
}

/** Twilio's Messages API, or a compatible service at the base URL. */
export const twilio: CarrierKind<TwilioConfig, TwilioSetting> = {
  settings,
  read: (reader) => ({ twilio: readSettings(reader) }),
  open: ({ twilio: own }, network) => (own === null ? null : twilioCarrier(own, network)),
  address: ({ twilio: own }) => (own === null ? null : { url: own.baseUrl, setting: 'USHER_TWILIO_BASE_URL' }),
};

function readSettings(reader: SettingReader<TwilioSetting>): TwilioSettings | null {
  if (!reader.areSet(settings.map(({ name }) => name))) return null;
  return Object.freeze({
    accountSid: reader.text('USHER_TWILIO_ACCOUNT_SID', /^[A-Za-z0-9]{2,64}$/, '2 to 64 letters and digits'),
    authToken: reader.text('USHER_TWILIO_AUTH_TOKEN', /^[\x21-\x7e]{1,256}$/, '1 to 256 visible ASCII characters'),
    baseUrl: reader.url('USHER_TWILIO_BASE_URL'),
    publicUrl: reader.url('USHER_TWILIO_PUBLIC_URL'),
  });
}

/** From connecting until the last byte of the answer. */
const sendTimeoutMs = 10_000;
/** The most that is read of an answer. A normal answer has about a kilobyte. */
const maxAnswerBytes = 65_536;
/** A longer `Retry-After` is reduced to this, because we give up after about nine minutes. */
const maxRetryAfterSec = 300;

const statusPath = '/carriers/twilio/status';
const inboundPath = '/carriers/twilio/inbound';
/** Tells Twilio to send no SMS in reply. */
const emptyTwiml = '<?xml version="1.0" encoding="UTF-8"?><Response></Response>';

function twilioCarrier(own: TwilioSettings, network: CarrierNetwork): Carrier {
  return {
    send: sender(own, network),
    close: async () => network.close(),
    contentType: 'application/x-www-form-urlencoded',
    carriesSignature: (headers) => signatureOf(headers) !== '',
    receipts: statusHook(own),
    inbound: inboundHook(own),
  };
}

function sender(own: TwilioSettings, network: CarrierNetwork): Carrier['send'] {
  const { baseUrl, accountSid, authToken, publicUrl } = own;
  const url = `${baseUrl}/2010-04-01/Accounts/${accountSid}/Messages.json`;
  const authorization = `Basic ${Buffer.from(`${accountSid}:${authToken}`).toString('base64')}`;
  return async ({ id, from, to, body }: OutgoingSms, stopping: AbortSignal): Promise<SendResult> => {
    // Receipts carry our id: a receipt may arrive before we stored the carrier's id, or that id may be lost in a crash.
    const form = new URLSearchParams({ From: from, To: to, Body: body });
    form.set('StatusCallback', `${publicUrl}${statusPath}?id=${id}`);
    try {
      const response = await network.post(url, {
        headers: { authorization, accept: 'application/json' },
        body: form,
        signal: AbortSignal.any([stopping, AbortSignal.timeout(sendTimeoutMs)]),
      });
      const answer = await readAnswer(response);
      return resultOf(response, answer);
    } catch (error) {
      return { outcome: 'postponed', why: `Could not reach the carrier (${nameOf(error)}).`, afterMs: null };
    }
  };
}

/** A success status alone decides: an incomplete answer must not make us send the SMS again. */
function resultOf(response: Response, answer: Readonly<Record<string, unknown>>): SendResult {
  if (response.ok) return { outcome: 'sent', sid: sidIn(answer['sid']) };
  const { status } = response;
  if (status === 429 || status === 408 || status >= 500)
    return { outcome: 'postponed', why: describe(status, answer), afterMs: retryAfterMs(response) };
  return { outcome: 'refused', why: describe(status, answer) };
}

async function readAnswer(response: Response): Promise<Record<string, unknown>> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const chunk of response.body ?? []) {
      chunks.push(chunk);
      bytes += chunk.byteLength;
      if (bytes > maxAnswerBytes) return {};
    }
    const parsed: unknown = JSON.parse(Buffer.concat(chunks).toString());
    return typeof parsed === 'object' && parsed !== null ? { ...parsed } : {};
  } catch {
    return {};
  }
}

function describe(status: number, { code, message }: Readonly<Record<string, unknown>>): string {
  const numbered = typeof code === 'number' ? ` ${code}` : '';
  return `The carrier reported${numbered}: ${typeof message === 'string' ? message : `status ${status}`}`;
}

function retryAfterMs({ headers }: Response): number | null {
  const seconds = headers.get('retry-after') ?? '';
  return /^\d{1,6}$/.test(seconds) ? Math.min(Number(seconds), maxRetryAfterSec) * 1000 : null;
}

function nameOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  const { cause } = error;
  return cause instanceof Error && 'code' in cause ? String(cause.code) : error.name;
}

function statusHook(own: TwilioSettings): Hook<ReceiptCall> {
  return {
    path: statusPath,
    answer: null,
    read(request) {
      const form = signedForm(own, statusPath, request);
      if (form === null) return null;
      const [id = null, ...others] = new URLSearchParams(request.query).getAll('id');
      const receipt = receiptIn(form.get('MessageStatus') ?? form.get('SmsStatus'), form.get('ErrorCode'));
      return { id: others.length === 0 ? id : null, sid: sidOf(form), receipt };
    },
  };
}

function inboundHook(own: TwilioSettings): Hook<InboundCall> {
  return {
    path: inboundPath,
    answer: { contentType: 'text/xml; charset=utf-8', body: emptyTwiml },
    read(request) {
      const form = signedForm(own, inboundPath, request);
      if (form === null) return null;
      return {
        sid: sidOf(form),
        from: form.get('From') ?? '',
        to: form.get('To') ?? '',
        text: form.get('Body') ?? '',
        mediaCount: Number(form.get('NumMedia') ?? 0),
      };
    },
  };
}

function sidOf(form: URLSearchParams): string | null {
  return sidIn(form.get('MessageSid') ?? form.get('SmsSid'));
}

/** The carrier signs the URL that we gave it, so our configured URL is used and not the one a proxy may have changed. */
function signedForm(
  { authToken, publicUrl }: TwilioSettings,
  path: string,
  { headers, query, body }: HookRequest,
): URLSearchParams | null {
  const form = new URLSearchParams(body);
  const signed = { url: `${publicUrl}${path}${query}`, form, signature: signatureOf(headers) };
  return isSigned(authToken, signed) ? form : null;
}

function signatureOf(headers: IncomingHttpHeaders): string {
  const given = headers['x-twilio-signature'];
  return typeof given === 'string' ? given : '';
}

const sidForm = /^[A-Za-z0-9]{2,64}$/;

function sidIn(value: unknown): string | null {
  return typeof value === 'string' && sidForm.test(value) ? value : null;
}

/** The receipt in a status callback; `null`: an unknown status. Twilio may add new ones. */
export function receiptIn(status: string | null, errorCode: string | null): Receipt | null {
  switch (status) {
    case 'delivered':
    case 'read':
      return { kind: 'delivered' };
    case 'failed':
    case 'undelivered':
    case 'canceled': {
      const numbered = errorCode !== null && /^\d{1,9}$/.test(errorCode) ? ` (${errorCode})` : '';
      return { kind: 'failed', why: `The carrier reported: ${status}${numbered}` };
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

interface SignedRequest {
  /** The URL that we gave the carrier, with its query. */
  readonly url: string;
  readonly form: URLSearchParams;
  readonly signature: string;
}

/**
 * Checks Twilio's request signature: HMAC-SHA1, with the account's token, of the URL followed by each parameter's name and value in
 * the order of the names. All parameters are included, because Twilio may add new ones. Twilio signs the URL sometimes with and
 * sometimes without its port, so both forms are valid.
 */
export function isSigned(authToken: string, { url, form, signature }: SignedRequest): boolean {
  const names = [...new Set(form.keys())].toSorted(byCodeUnits);
  const values = (name: string): string[] => [...new Set(form.getAll(name))].toSorted(byCodeUnits);
  const fields = names.map((name) => values(name).map((value) => `${name}${value}`).join('')).join(''); // prettier-ignore
  const given = Buffer.from(signature, 'base64');
  const expected = urlForms(url).map((candidate) =>
    createHmac('sha1', authToken).update(`${candidate}${fields}`).digest(),
  );
  return expected.some((digest) => digest.length === given.length && timingSafeEqual(digest, given));
}

function byCodeUnits(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

function urlForms(url: string): string[] {
  const { protocol, host, hostname, port } = new URL(url);
  const other = port === '' ? `${hostname}:${protocol === 'https:' ? 443 : 80}` : hostname;
  return [url, url.replace(host, other)];
}
