import { createHmac, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Config } from '../../../packages/server/src/config.ts';
import { call, type Answer, type Json } from '../server.ts';
import type { TestAccount } from '../world.ts';

/** The URL that the carrier calls: a proxy that removes the path is in front of Usher. */
export const publicUrl = 'https://usher.test/behind/a/proxy';
const accountSid = 'AC0123456789abcdef';
const authToken = 'known-to-carrier-and-usher';

/** An SMS that the carrier has accepted. */
export interface AcceptedSms {
  readonly sid: string;
  readonly from: string;
  readonly to: string;
  readonly body: string;
  readonly statusCallback: string;
}

/** What the carrier does with a request to send: respond, never respond, or reset the connection before or after accepting the SMS. */
type CarrierBehaviour =
  | { readonly status: number; readonly body?: unknown; readonly headers?: Readonly<Record<string, string>> }
  | 'hang'
  | 'reset'
  | 'take and reset';

type Usher = { readonly url: string };

/** A fake of Twilio's Messages API and its callbacks. */
export interface TestCarrier {
  readonly settings: NonNullable<Config['twilio']>;
  readonly environment: Readonly<Record<string, string>>;
  /** The accepted SMS, in order. */
  readonly acceptedSms: AcceptedSms[];
  /** The number of requests, whatever the response was. */
  requestCount: number;
  /** The behaviour for each of the next requests. After them the carrier accepts every SMS. */
  readonly nextBehaviours: CarrierBehaviour[];
  hanging(): number;
  /** Sends Usher the status of an SMS. With `bySid` the URL carries no id, as if it were set in the carrier's console. */
  report(usher: Usher, sms: AcceptedSms, status: string, more?: Report): Promise<Response>;
  reply(usher: Usher, to: AcceptedSms, body: string, more?: Readonly<Record<string, string>>): Promise<Response>;
  [Symbol.asyncDispose](): Promise<void>;
}

interface Report {
  readonly bySid?: true;
  readonly fields?: Readonly<Record<string, string>>;
}

export function newSid(prefix = 'SM'): string {
  return `${prefix}${randomBytes(16).toString('hex')}`;
}

/** The carrier's signature of a request. */
export function signatureOf(url: string, fields: Readonly<Record<string, string>>, token = authToken): string {
  const text = Object.keys(fields).toSorted().map((name) => `${name}${fields[name]}`).join(''); // prettier-ignore
  return createHmac('sha1', token).update(`${url}${text}`).digest('base64');
}

/** A signed receipt or reply about an unknown SMS. */
export function signedForm(route: 'status' | 'inbound'): { body: string; headers: Record<string, string> } {
  const signature = signatureOf(`${publicUrl}/carriers/twilio/${route}`, { MessageSid: 'SM0' });
  const type = 'application/x-www-form-urlencoded';
  return { body: 'MessageSid=SM0', headers: { 'content-type': type, 'x-twilio-signature': signature } };
}

/** Sends a callback of the carrier to Usher, as the proxy forwards it. */
export async function post(
  usher: Usher,
  url: string,
  fields: Readonly<Record<string, string>>,
  signature = signatureOf(url, fields),
): Promise<Response> {
  return fetch(url.replace(publicUrl, usher.url), {
    method: 'POST',
    headers: { 'x-twilio-signature': signature, 'user-agent': 'TwilioProxy/1.1' },
    body: new URLSearchParams(fields),
  });
}

export async function startCarrier(): Promise<TestCarrier> {
  const acceptedSms: AcceptedSms[] = [];
  const nextBehaviours: CarrierBehaviour[] = [];
  const hanging = new Set<ServerResponse>();
  const state = { requestCount: 0 };

  const parseSms = async (request: IncomingMessage): Promise<AcceptedSms> => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const form = new URLSearchParams(Buffer.concat(chunks).toString());
    const field = (name: string): string => form.get(name) ?? '';
    return {
      sid: newSid(),
      from: field('From'),
      to: field('To'),
      body: field('Body'),
      statusCallback: field('StatusCallback'),
    };
  };
  const answer = (response: ServerResponse, status: number, body: unknown, headers = {}): void => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
  };
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const sms = await parseSms(request);
    state.requestCount += 1;
    const basic = `Basic ${Buffer.from(`${accountSid}:${authToken}`).toString('base64')}`;
    if (request.url !== `/2010-04-01/Accounts/${accountSid}/Messages.json` || request.method !== 'POST')
      return answer(response, 404, { code: 20404, message: 'The requested resource was not found', status: 404 });
    if (request.headers.authorization !== basic)
      return answer(response, 401, { code: 20003, message: 'Authenticate', status: 401 });
    const behaviour = nextBehaviours.shift();
    if (behaviour === 'hang') return void hanging.add(response);
    if (behaviour === 'reset') return void request.socket.destroy();
    if (typeof behaviour === 'object')
      return answer(response, behaviour.status, behaviour.body ?? {}, behaviour.headers);
    acceptedSms.push(sms);
    if (behaviour === 'take and reset') return void request.socket.destroy();
    return answer(response, 201, { sid: sms.sid, status: 'queued', from: sms.from, to: sms.to, error_code: null });
  };
  const server = createServer((request, response) => void serve(request, response)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  return {
    settings: { baseUrl, accountSid, authToken, publicUrl },
    environment: {
      USHER_TWILIO_BASE_URL: baseUrl,
      USHER_TWILIO_ACCOUNT_SID: accountSid,
      USHER_TWILIO_AUTH_TOKEN: authToken,
      USHER_TWILIO_PUBLIC_URL: publicUrl,
    },
    acceptedSms,
    nextBehaviours,
    get requestCount() {
      return state.requestCount;
    },
    hanging: () => hanging.size,
    async report(usher, { sid, from, to, statusCallback }, status, { bySid, fields = {} } = {}) {
      const url = bySid === true ? `${publicUrl}/carriers/twilio/status` : statusCallback;
      const form = { MessageSid: sid, SmsSid: sid, MessageStatus: status, AccountSid: accountSid, From: from, To: to };
      return post(usher, url, { ...form, ApiVersion: '2010-04-01', ...fields });
    },
    async reply(usher, { from, to }, body, more = {}) {
      const form = { MessageSid: newSid(), AccountSid: accountSid, From: to, To: from, Body: body, NumMedia: '0' };
      return post(usher, `${publicUrl}/carriers/twilio/inbound`, { ...form, NumSegments: '1', ...more });
    },
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
    },
  };
}

let numberCount = 0;
/** A phone number that no other test uses. */
export function newNumber(): string {
  return `+1555${String((numberCount += 1)).padStart(7, '0')}`;
}

export async function sendOutboundSms(
  usher: Usher,
  { siteId }: TestAccount,
  { token }: { readonly token: string },
  { headers = {}, ...given }: Json = {},
): Promise<Answer> {
  const numbers = { from_number: newNumber(), to_number: newNumber() };
  const body = { site_id: siteId, ...numbers, message: 'Hello?', ...given };
  return call(usher, 'POST /outbound_sms', { token, body, headers });
}
