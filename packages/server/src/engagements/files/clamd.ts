import { connect, type LookupFunction, type Socket } from 'node:net';

export type Verdict = { readonly result: 'clean' } | { readonly result: 'infected'; readonly signature: string };

/** There is no verdict, for a reason that is not the file's alone: to be tried again. */
export class ScanFault extends Error {
  override readonly name = 'ScanFault';
}

export interface Clamd {
  readonly host: string;
  readonly port: number;
  readonly times?: ClamdTimes;
  /** How its name is resolved; left out, by the system. */
  readonly lookup?: LookupFunction;
}

interface ClamdTimes {
  readonly connectMs: number;
  /** From beginning to end. */
  readonly scanMs: number;
}

const clamdTimes: ClamdTimes = { connectMs: 5_000, scanMs: 120_000 };
const mostAnswerBytes = 4_096;

/**
 * Streams bytes to clamd (INSTREAM: chunks with their length before them, an empty one at the end) and reads its verdict.
 * Clean is only what it calls so after it was sent everything; whatever else it does is a fault.
 */
export async function scanWithClamd(
  { host, port, times = clamdTimes, lookup }: Clamd,
  bytes: AsyncIterable<Buffer>,
  signal: AbortSignal,
): Promise<Verdict> {
  signal.throwIfAborted();
  const socket = connect({ host, port, ...(lookup === undefined ? {} : { lookup }) });
  const exchange = new Exchange(socket);
  const give = (ms: number, doing: string): NodeJS.Timeout =>
    setTimeout(() => exchange.fail(`clamd did not ${doing} within ${ms} ms`), ms);
  const connecting = give(times.connectMs, 'take the connection');
  const scanning = give(times.scanMs, 'answer');
  const stop = (): void => exchange.fail('the scan was called off');
  socket.once('connect', () => clearTimeout(connecting));
  signal.addEventListener('abort', stop);
  try {
    await exchange.send(Buffer.from('zINSTREAM\0'));
    for await (const chunk of bytes) {
      if (exchange.isAnswered) break;
      await exchange.send(sized(chunk.length), chunk);
    }
    const isWhole = !exchange.isAnswered;
    if (isWhole) await exchange.send(sized(0));
    return verdictOf(await exchange.answer, isWhole);
  } finally {
    signal.removeEventListener('abort', stop);
    clearTimeout(connecting);
    clearTimeout(scanning);
    socket.destroy();
  }
}

function sized(length: number): Buffer {
  const size = Buffer.alloc(4);
  size.writeUInt32BE(length);
  return size;
}

function verdictOf(answer: string, isWhole: boolean): Verdict {
  const signature = /^stream: (.+) FOUND$/.exec(answer)?.[1];
  if (signature !== undefined) return { result: 'infected', signature };
  if (answer === 'stream: OK' && isWhole) return { result: 'clean' };
  if (answer.includes('size limit exceeded'))
    throw new ScanFault('the file is larger than StreamMaxLength in clamd.conf allows; set it to 26M or more');
  throw new ScanFault(`clamd answered ${JSON.stringify(answer)}`);
}

/** What goes on over one connection. It may be answered, or fail, before everything is sent; both end the sending. */
class Exchange {
  readonly #socket: Socket;
  readonly #end = Promise.withResolvers<string>();
  #received = '';
  /** Or failed: nothing more is to be sent. */
  isAnswered = false;

  constructor(socket: Socket) {
    this.#socket = socket;
    // Whoever sends hears of a failure when it asks for the answer.
    this.#end.promise.catch(() => undefined);
    socket.setEncoding('latin1');
    socket.on('data', (text: string) => this.#receive(text));
    socket.on('error', (error) => this.fail(`the connection to clamd failed: ${error.message}${this.#hint}`));
    socket.on('close', () => this.fail(`clamd closed the connection without an answer${this.#hint}`));
  }

  /** One that will take no more resets the connection, and what it said of it may be lost with that. */
  get #hint(): string {
    const isSent = this.#socket.bytesWritten > 'zINSTREAM'.length + 1;
    return isSent ? '; if that goes on, see that StreamMaxLength in clamd.conf is 26M or more' : '';
  }

  get answer(): Promise<string> {
    return this.#end.promise;
  }

  fail(reason: string): void {
    this.isAnswered = true;
    this.#end.reject(new ScanFault(reason));
    this.#socket.destroy();
  }

  /** Resolves when the socket has taken it, or there is no more use in sending. */
  async send(...parts: Buffer[]): Promise<void> {
    if (this.isAnswered) return;
    const taken = new Promise<void>((resolve) => {
      for (const part of parts.slice(0, -1)) this.#socket.write(part);
      this.#socket.write(parts.at(-1) ?? '', () => resolve());
    });
    await Promise.race([taken, this.#end.promise]);
  }

  #receive(text: string): void {
    this.#received += text;
    const end = this.#received.indexOf('\0');
    if (end >= 0) {
      this.isAnswered = true;
      this.#end.resolve(this.#received.slice(0, end));
    } else if (this.#received.length > mostAnswerBytes) this.fail('clamd answered at length and said nothing');
  }
}
