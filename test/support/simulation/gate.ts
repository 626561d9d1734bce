import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { ClientFrames, ServerFrames, type Exchange } from './wire.ts';

/**
 * `prompt`: it is delivered as soon as those before it are. `delayed`: the scheduler delivers it. `lost`: the connection is lost with it.
 */
type AnswerFate = 'prompt' | 'delayed' | 'lost';

/**
 * A connection between a simulated process and PostgreSQL whose traffic waits for the scheduler.
 *
 *   waiting    exchanges that arrived and were not sent
 *   running    the exchange that the server has; at most one, so that the order of statements is the scheduler's
 *   answers    what the server has answered and the process has not received
 *
 * What opens a session and what prepares a statement changes nothing and is passed on at once.
 */
export class Link {
  /** Called after whatever happens, so that the scheduler knows when nothing happens any more. */
  readonly #gate: { onActivity(): void; nextNumber(): number };
  readonly #client: Socket;
  readonly #server: Socket;
  readonly #clientFrames = new ClientFrames();
  readonly #serverFrames = new ServerFrames();
  readonly #waiting: Exchange[] = [];
  /** The numbers of exchanges, in the order in which the process began them: what prepares a statement belongs to the statement. */
  readonly #numbers = new WeakMap<Exchange, number>();
  #preparing: number | null = null;
  readonly #answers: { readonly bytes: Buffer; readonly exchange: Exchange; readonly isPrompt: boolean }[] = [];
  #running: Exchange | null = null;
  /** What becomes of the answer to the running exchange. */
  #fate: AnswerFate = 'prompt';
  #isCut = false;
  #isGone = false;

  constructor(gate: { onActivity(): void; nextNumber(): number }, client: Socket, server: Socket) {
    this.#gate = gate;
    this.#client = client;
    this.#server = server;
    client.on('error', () => undefined).on('close', () => this.cut());
    client.on('data', (bytes: Buffer) => {
      for (const exchange of this.#clientFrames.push(bytes)) this.#onExchange(exchange);
      this.#passOn();
      gate.onActivity();
    });
    server
      .on('error', () => undefined)
      .on('close', () => {
        this.#isGone = true;
        this.#running = null;
        client.destroy();
        gate.onActivity();
      });
    server.on('data', (bytes: Buffer) => {
      for (const answer of this.#serverFrames.push(bytes)) this.#onAnswer(answer);
      gate.onActivity();
    });
  }

  /** What the server has reported. */
  get errors(): readonly string[] {
    return this.#serverFrames.errors;
  }

  get pid(): number | null {
    return this.#serverFrames.pid;
  }

  /**
   * What may be sent next; `null`: nothing, or the server is busy. The next exchange waits until the answer before it is delivered: what a
   * process sends before that depends on the statements that it has prepared, and the history must not.
   */
  get next(): Exchange | null {
    const isBusy = this.#running !== null || this.#answers.length > 0 || this.#isCut;
    return isBusy ? null : (this.#waiting[0] ?? null);
  }

  get running(): Exchange | null {
    return this.#running;
  }

  /** The exchange whose answer may be delivered next. */
  get answered(): Exchange | null {
    return this.#isCut ? null : (this.#answers[0]?.exchange ?? null);
  }

  get isCut(): boolean {
    return this.#isCut;
  }

  /** Whether the connection to the server is closed, too. */
  get isGone(): boolean {
    return this.#isGone;
  }

  /** Tells exchanges with the same text apart, whichever connections they are on. */
  numberOf(exchange: Exchange): number {
    return this.#numbers.get(exchange) ?? 0;
  }

  #onExchange(exchange: Exchange): void {
    this.#waiting.push(exchange);
    const number = this.#preparing ?? this.#gate.nextNumber();
    this.#numbers.set(exchange, number);
    this.#preparing = exchange.kind === 'preparation' ? number : null;
  }

  send(fate: AnswerFate): void {
    const exchange = this.#waiting.shift();
    if (exchange === undefined || this.#running !== null) throw new Error('the link has nothing to send');
    this.#running = exchange;
    this.#fate = fate;
    this.#server.write(exchange.bytes);
  }

  /** Delivers the first answer, and prompt ones behind it. */
  deliver(): void {
    this.#deliverFirst();
    this.#passOn();
  }

  #deliverFirst(): void {
    const answer = this.#answers.shift();
    if (answer === undefined) throw new Error('the link has nothing to deliver');
    this.#client.write(answer.bytes);
  }

  /**
   * Cuts the connection. What was not sent is lost. A statement that the server has goes on: the server finds out when it has the result, or,
   * without a statement, at once.
   */
  cut(): void {
    if (this.#isCut) return;
    this.#isCut = true;
    this.#waiting.length = 0;
    this.#answers.length = 0;
    this.#client.destroy();
    if (this.#running === null) this.#server.destroy();
    this.#gate.onActivity();
  }

  #onAnswer(bytes: Buffer): void {
    const exchange = this.#running;
    if (exchange === null) throw new Error('the link received an answer to nothing');
    this.#running = null;
    if (this.#fate === 'lost') this.cut();
    if (this.#isCut) return void this.#server.destroy();
    this.#answers.push({ bytes, exchange, isPrompt: this.#fate === 'prompt' });
    this.#passOn();
  }

  #passOn(): void {
    while (this.#answers[0]?.isPrompt === true) this.#deliverFirst();
    if (this.next !== null && this.next.kind !== 'statement') this.send('prompt');
  }
}

/** The socket at which a simulated process finds its database. */
export class Gate {
  readonly #links: Link[] = [];
  readonly #server: Server;
  #exchanges = 0;
  /** Is called whenever something arrives. */
  onActivity: () => void = () => undefined;

  constructor(target: string) {
    this.#server = createServer((client) => {
      this.#links.push(new Link(this, client, connect(join(target, socketName))));
      this.onActivity();
    });
  }

  nextNumber(): number {
    this.#exchanges += 1;
    return this.#exchanges;
  }

  get links(): readonly Link[] {
    return this.#links;
  }

  async listen(directory: string): Promise<void> {
    this.#server.listen(join(directory, socketName));
    await once(this.#server, 'listening');
  }

  /** Forgets the connections that were lost. */
  forgetLost(): void {
    const open = this.#links.filter((link) => !link.isCut);
    this.#links.splice(0, Infinity, ...open);
  }

  /** Accepts no more connections, and cuts those it has. */
  close(): void {
    this.#server.close();
    for (const link of this.#links) link.cut();
  }
}

const socketName = '.s.PGSQL.5432';

/** Opens a gate to the PostgreSQL whose socket is in the directory `target`. Its own socket is in `directory`. */
export async function openGate(target: string, directory: string): Promise<Gate> {
  const gate = new Gate(target);
  await gate.listen(directory);
  return gate;
}
