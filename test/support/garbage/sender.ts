import { connect } from 'node:net';
import { Agent, type Dispatcher } from 'undici';
import type { GarbageAnswer, GarbageRequest, Outcome } from './check-answer.ts';
import type { WireMessage } from './wire.ts';

/** Sends requests over several connections. */
export interface Sender {
  /** The outcomes are in the order of the requests. */
  sendAll(requests: readonly GarbageRequest[]): Promise<Outcome[]>;
  close(): Promise<void>;
}

const connections = 16;
/** No answer may take longer. A request of a batch waits until its turn comes; that is not counted. */
const answerLimitMs = 30_000;
/** At most so many bytes of an answer are read. */
const readBytes = 4 * 2 ** 20;

export function openSender(url: string): Sender {
  const { hostname, port } = new URL(url);
  const agent = new Agent({
    connections,
    pipelining: 1,
    headersTimeout: answerLimitMs,
    bodyTimeout: answerLimitMs,
    maxHeaderSize: 2 ** 16,
  });
  const sendOne = async (request: GarbageRequest): Promise<Outcome> => {
    const began = performance.now();
    const sending =
      request.wire === null ? sendByHttp(agent, url, request) : sendBytes(hostname, Number(port), request.wire);
    const sent = await sending.then(
      (answers) => ({ answers, failure: null }),
      (error: unknown) => ({ answers: [], failure: describeFailure(error) }),
    );
    return { ...sent, tookMs: performance.now() - began };
  };
  return {
    async sendAll(requests) {
      const outcomes: Outcome[] = [];
      let next = 0;
      const work = async (): Promise<void> => {
        for (let index = next++; index < requests.length; index = next++) {
          const request = requests[index];
          if (request !== undefined) outcomes[index] = await sendOne(request);
        }
      };
      await Promise.all(Array.from({ length: connections }, work));
      return outcomes;
    },
    async close() {
      await agent.destroy();
    },
  };
}

function describeFailure(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
}

async function sendByHttp(agent: Agent, url: string, request: GarbageRequest): Promise<GarbageAnswer[]> {
  const { method, target, headers, body } = request;
  const response = await agent.request({
    origin: url,
    path: target,
    method,
    headers: headers.flat(),
    body,
  });
  const contentType = String(response.headers['content-type'] ?? '');
  const text = await readText(response.body, contentType.startsWith('text/event-stream'));
  return [{ status: response.statusCode, contentType, text }];
}

/** An event stream does not end: only its first piece is read. */
async function readText(body: Dispatcher.ResponseData['body'], isStream: boolean): Promise<string> {
  if (!isStream) return (await body.text()).slice(0, readBytes);
  body.on('error', () => undefined);
  for await (const piece of body) return String(piece);
  return '';
}

/** Writes the bytes, and reads until the server closes the socket. */
async function sendBytes(host: string, port: number, { bytes, isCut }: WireMessage): Promise<GarbageAnswer[]> {
  const pieces: Buffer[] = [];
  await new Promise<void>((resolve, reject) => {
    const socket = connect({ host, port });
    const limit = setTimeout(() => {
      socket.destroy();
      reject(new Error(`the socket is still open after ${answerLimitMs} ms`));
    }, answerLimitMs);
    socket.on('data', (piece: Buffer) => {
      pieces.push(piece);
      // A live feed does not end.
      if (piece.includes('content-type: text/event-stream')) socket.destroy();
    });
    socket.on('close', () => {
      clearTimeout(limit);
      resolve();
    });
    // The server may have answered and closed the socket before it has read everything.
    socket.on('error', () => undefined);
    if (isCut) socket.end(bytes);
    else socket.write(bytes);
  });
  const answers = answersIn(Buffer.concat(pieces));
  if (answers.length === 0 && !isCut) throw new Error('the server has closed the socket');
  return answers;
}

/** The answers on a socket, one after the other. */
function answersIn(bytes: Buffer): GarbageAnswer[] {
  const answers: GarbageAnswer[] = [];
  for (let rest = bytes; rest.length > 0;) {
    const endOfHead = rest.indexOf('\r\n\r\n');
    const head = rest.subarray(0, endOfHead === -1 ? rest.length : endOfHead).toString('latin1');
    const status = Number(/^HTTP\/1\.[01] (\d{3}) /.exec(head)?.[1]);
    if (Number.isNaN(status)) throw new Error(`the server has sent ${JSON.stringify(head.slice(0, 100))}`);
    const content = rest.subarray(head.length + 4);
    const length = lengthOf(head, status, content);
    const contentType = /^content-type: *(.*)$/im.exec(head)?.[1]?.trim() ?? '';
    // 100 only says that the body may come.
    if (status >= 200) answers.push({ status, contentType, text: content.subarray(0, length).toString() });
    rest = content.subarray(length);
  }
  return answers;
}

/** How long the content is that belongs to the head. An answer in chunks is taken to be the last one. */
function lengthOf(head: string, status: number, content: Buffer): number {
  const announced = /^content-length: *(\d+)/im.exec(head)?.[1];
  if (status < 200 || status === 204 || status === 304) return 0;
  return announced === undefined ? content.length : Math.min(Number(announced), content.length);
}
