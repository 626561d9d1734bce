import type { WebhookEvent } from './api-types.ts';

export type { WebhookEvent };

/** Why a request was refused. */
export type WebhookVerificationReason =
  'missing_header' | 'invalid_timestamp' | 'outside_tolerance' | 'wrong_signature' | 'parsed_body' | 'not_an_event';

/** The request is not from Usher, or it is old. Answer it with 401. */
export class WebhookVerificationError extends Error {
  override readonly name = 'WebhookVerificationError';
  readonly reason: WebhookVerificationReason;

  constructor(reason: WebhookVerificationReason, message: string) {
    super(message);
    this.reason = reason;
  }
}

type HeaderValue = string | readonly string[] | undefined;

/** A Fetch `Request`, or the headers and the raw body as Node, Express and Fastify have them. */
export type WebhookRequest =
  | Pick<Request, 'headers' | 'arrayBuffer'>
  | {
      readonly headers: Headers | Readonly<Record<string, HeaderValue>>;
      /** The body byte for byte as it arrived: a body that was parsed and written again has another signature. */
      readonly body: string | Uint8Array;
    };

export interface VerifyOptions {
  /** How far `webhook-timestamp` may be from now, in both directions. Default: 300. */
  readonly toleranceSec?: number;
  /** The current time. Default: that of the machine. */
  readonly now?: Date;
}

/**
 * The event of a webhook request whose signature is valid. `secret` is the secret of the webhook, or several: during a rotation the
 * new and the former one. Throws `WebhookVerificationError` otherwise.
 *
 * Usher may send an event again, with the same `event_id`: remember the ids of the events that were processed.
 */
export async function verify(
  request: WebhookRequest,
  secret: string | readonly string[],
  { toleranceSec = 300, now = new Date() }: VerifyOptions = {},
): Promise<WebhookEvent> {
  const keys = await Promise.all([secret].flat().map(importKey));
  if (keys.length === 0) throw new TypeError('No secret is given: pass the secret of the webhook.');
  const id = headerOf(request.headers, 'webhook-id');
  const timestamp = headerOf(request.headers, 'webhook-timestamp');
  const signatures = headerOf(request.headers, 'webhook-signature');
  checkTime(timestamp, { toleranceSec, now });
  const body = await bodyOf(request);
  const signed = joined(new TextEncoder().encode(`${id}.${timestamp}.`), body);
  if (!(await isSigned(signatures, signed, keys)))
    throw new WebhookVerificationError(
      'wrong_signature',
      'No signature in webhook-signature fits the body and the secret. Check the secret, and that the body is the raw one.',
    );
  return parseEvent(body);
}

function checkTime(timestamp: string, { toleranceSec, now }: Required<VerifyOptions>): void {
  if (!/^\d{1,15}$/.test(timestamp))
    throw new WebhookVerificationError('invalid_timestamp', 'webhook-timestamp is not a number of seconds.');
  const differenceSec = Math.abs(now.getTime() / 1000 - Number(timestamp));
  if (differenceSec > toleranceSec)
    throw new WebhookVerificationError(
      'outside_tolerance',
      `webhook-timestamp differs from the clock of this machine by ${Math.round(differenceSec)} s; at most ${toleranceSec} s are allowed. The request is a repetition, or the clock is wrong.`,
    );
}

function headerOf(headers: WebhookRequest['headers'], name: string): string {
  // Not `instanceof Headers`: a runtime may have several classes of that name.
  const value =
    typeof headers.get === 'function'
      ? (headers as Headers).get(name)
      : Object.entries(headers as Record<string, HeaderValue>).find(([key]) => key.toLowerCase() === name)?.[1];
  const text = Array.isArray(value) ? value.join(' ') : value;
  if (typeof text === 'string' && text !== '') return text;
  throw new WebhookVerificationError('missing_header', `The header ${name} is missing: the request is not signed.`);
}

async function bodyOf(request: WebhookRequest): Promise<Uint8Array> {
  if ('arrayBuffer' in request) return new Uint8Array(await request.arrayBuffer());
  const body: unknown = request.body;
  if (typeof body === 'string') return new TextEncoder().encode(body);
  if (body instanceof Uint8Array) return body;
  throw new WebhookVerificationError(
    'parsed_body',
    'The body was parsed before. Pass the raw body, as a string or bytes: the signature is for its exact bytes.',
  );
}

type Key = Awaited<ReturnType<typeof crypto.subtle.importKey>>;

async function importKey(secret: string): Promise<Key> {
  if (!/^whsec_[A-Za-z0-9+/]+={0,2}$/.test(secret))
    throw new TypeError('The secret of a webhook begins with whsec_, followed by base64.');
  const bytes = bytesOf(secret.slice('whsec_'.length));
  if (bytes === null) throw new TypeError('The secret of the webhook is not valid base64 after whsec_.');
  return crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify']);
}

/** Every signature is compared with every key. `crypto.subtle.verify` takes the same time wherever two signatures differ. */
async function isSigned(signatures: string, signed: Uint8Array<ArrayBuffer>, keys: readonly Key[]): Promise<boolean> {
  const candidates = signatures
    .split(' ')
    .filter((signature) => signature.startsWith('v1,'))
    .map((signature) => bytesOf(signature.slice('v1,'.length)));
  const results = candidates.flatMap((candidate) =>
    keys.map(async (key) => candidate !== null && crypto.subtle.verify('HMAC', key, candidate, signed)),
  );
  return (await Promise.all(results)).includes(true);
}

/** `null`: the text is not base64. */
function bytesOf(base64: string): Uint8Array<ArrayBuffer> | null {
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  } catch {
    return null;
  }
}

function joined(first: Uint8Array, second: Uint8Array): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(first.length + second.length);
  bytes.set(first);
  bytes.set(second, first.length);
  return bytes;
}

function parseEvent(body: Uint8Array): WebhookEvent {
  try {
    const event = JSON.parse(new TextDecoder().decode(body)) as WebhookEvent | null;
    if (typeof event?.event_type === 'string') return event;
  } catch {
    // Signed, but not JSON.
  }
  throw new WebhookVerificationError('not_an_event', 'The body is signed, but it is not an event of Usher.');
}
