import { request, type Agent, type IncomingMessage } from 'node:http';
import type { Json } from '../server.ts';

interface From {
  /** A loopback address that the request comes from: 127.0.0.1, 127.0.0.2 … */
  readonly localAddress: string;
  readonly agent?: Agent;
}

interface CallOptions {
  readonly token?: string;
  readonly body?: unknown;
}

function open(server: { readonly url: string }, route: string, from: From, { token, body }: CallOptions) {
  const [method = 'GET', path = '/'] = route.split(' ', 2);
  const text = body === undefined ? undefined : JSON.stringify(body);
  const sent = request(`${server.url}${path}`, {
    method,
    ...from,
    headers: {
      ...(token === undefined ? {} : { authorization: token.includes(' ') ? token : `Bearer ${token}` }),
      ...(text === undefined
        ? {}
        : { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(text)) }),
    },
  });
  const answered = new Promise<IncomingMessage>((resolve, reject) => sent.on('response', resolve).on('error', reject));
  sent.end(text);
  return { sent, answered };
}

export interface AnswerFrom {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly body: Json;
}

/** Sends a request as `call` does, from the given address. */
export async function callFrom(
  from: From,
  server: { readonly url: string },
  route: string,
  options: CallOptions = {},
): Promise<AnswerFrom> {
  const answer = await open(server, route, from, options).answered;
  const chunks: Buffer[] = [];
  for await (const chunk of answer) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString();
  const isJson = answer.headers['content-type']?.includes('json') === true;
  return {
    status: answer.statusCode ?? 0,
    headers: answer.headers,
    body: isJson && text !== '' ? JSON.parse(text) : text,
  };
}

export interface FeedFrom {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
  isOpen(): boolean;
  close(): void;
}

/** Opens a feed from the given address. Resolves with the first chunk, or with the refusal. The feed stays open. */
export async function feedFrom(from: From, server: { readonly url: string }, token: string): Promise<FeedFrom> {
  const { sent, answered } = open(server, 'GET /feed?hold_presence=true', from, { token });
  const answer = await answered;
  sent.on('error', () => undefined);
  let isOpen = answer.statusCode === 200;
  const end = (): void => {
    isOpen = false;
  };
  answer.on('error', end).on('close', end);
  const [first] = await new Promise<readonly string[]>((resolve) => {
    answer.once('data', (chunk: Buffer) => resolve([chunk.toString()]));
    answer.once('end', () => resolve(['']));
    answer.once('error', () => resolve(['']));
    answer.once('close', () => resolve(['']));
  });
  answer.resume();
  return {
    status: answer.statusCode ?? 0,
    headers: answer.headers,
    body: first ?? '',
    isOpen: () => isOpen,
    close: () => sent.destroy(),
  };
}
