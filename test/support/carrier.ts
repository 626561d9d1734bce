import { createHmac, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Config } from '../../packages/server/src/config.ts';
import { call, until, type Answer, type Json } from './server.ts';
import type { TestAccount } from './world.ts';

/** Where the carrier believes Usher to be: behind a proxy that takes the path away. */
export const publicUrl = 'https://usher.test/behind/a/proxy';
const accountSid = 'AC0123456789abcdef';
const authToken = 'known-to-carrier-and-usher';

/** An SMS that the carrier took. */
export interface Carried {
  readonly sid: string;
  readonly from: string;
  readonly to: string;
  readonly body: string;
  readonly statusCallback: string;
}

/** How it treats a request to send: it answers something, never does, or cuts the connection, having taken the SMS or not. */
type Mood =
  | { readonly status: number; readonly body?: unknown; readonly headers?: Readonly<Record<string, string>> }
  | 'hang'
  | 'reset'
  | 'take and reset';

type Usher = { readonly url: string };

/** A server that speaks as Twilio's messages API does, and calls back as it does. */
export interface TestCarrier {
  readonly settings: NonNullable<Config['twilio']>;
  readonly environment: Readonly<Record<string, string>>;
  /** What it took, in order. */
  readonly carried: Carried[];
  /** How often it was asked, whatever it answered. */
  asked: number;
  /** How the next requests are treated, one each; after them it behaves. */
  readonly moods: Mood[];
  hanging(): number;
  /** Tells Usher what became of an SMS; `bySid` leaves the address bare, as it would be if set in the carrier's console. */
  report(usher: Usher, sms: Carried, status: string, more?: Report): Promise<Response>;
  reply(usher: Usher, to: Carried, body: string, more?: Readonly<Record<string, string>>): Promise<Response>;
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

/** A receipt or a reply about nothing, to be sent by hand. */
export function signedForm(route: 'status' | 'inbound'): { body: string; headers: Record<string, string> } {
  const signature = signatureOf(`${publicUrl}/carriers/twilio/${route}`, { MessageSid: 'SM0' });
  const type = 'application/x-www-form-urlencoded';
  return { body: 'MessageSid=SM0', headers: { 'content-type': type, 'x-twilio-signature': signature } };
}

/** As the proxy passes it on. */
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
  const carried: Carried[] = [];
  const moods: Mood[] = [];
  const hanging = new Set<ServerResponse>();
  const state = { asked: 0 };

  const take = async (request: IncomingMessage): Promise<Carried> => {
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
    const sms = await take(request);
    state.asked += 1;
    const basic = `Basic ${Buffer.from(`${accountSid}:${authToken}`).toString('base64')}`;
    if (request.url !== `/2010-04-01/Accounts/${accountSid}/Messages.json` || request.method !== 'POST')
      return answer(response, 404, { code: 20404, message: 'The requested resource was not found', status: 404 });
    if (request.headers.authorization !== basic)
      return answer(response, 401, { code: 20003, message: 'Authenticate', status: 401 });
    const mood = moods.shift();
    if (mood === 'hang') return void hanging.add(response);
    if (mood === 'reset') return void request.socket.destroy();
    if (typeof mood === 'object') return answer(response, mood.status, mood.body ?? {}, mood.headers);
    carried.push(sms);
    if (mood === 'take and reset') return void request.socket.destroy();
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
    carried,
    moods,
    get asked() {
      return state.asked;
    },
    hanging: () => hanging.size,
    async report(usher, { sid, from, to, statusCallback }, status, { bySid, fields = {} } = {}) {
      const url = bySid === true ? `${publicUrl}/carriers/twilio/status` : statusCallback;
      const told = { MessageSid: sid, SmsSid: sid, MessageStatus: status, AccountSid: accountSid, From: from, To: to };
      return post(usher, url, { ...told, ApiVersion: '2010-04-01', ...fields });
    },
    async reply(usher, { from, to }, body, more = {}) {
      const told = { MessageSid: newSid(), AccountSid: accountSid, From: to, To: from, Body: body, NumMedia: '0' };
      return post(usher, `${publicUrl}/carriers/twilio/inbound`, { ...told, NumSegments: '1', ...more });
    },
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
    },
  };
}

let numbers = 0;
/** A phone number that nobody else has. */
export function newNumber(): string {
  return `+1555${String((numbers += 1)).padStart(7, '0')}`;
}

export async function askBySms(
  usher: Usher,
  { siteId }: TestAccount,
  { token }: { readonly token: string },
  { headers = {}, ...given }: Json = {},
): Promise<Answer> {
  const numbered = { from_number: newNumber(), to_number: newNumber() };
  const body = { site_id: siteId, ...numbered, message: 'Hello?', ...given };
  return call(usher, 'POST /outbound_sms', { token, body, headers });
}

/** What goes by a carrier goes through several hands, and on a busy machine that takes its time. */
export async function eventually(condition: () => boolean | Promise<boolean>): Promise<void> {
  await until(condition, 30_000);
}
