import pg, { type Client } from 'pg';
import { CopyIn, CopyOut } from './copy.ts';
import { isStale, lostConnection } from './errors.ts';
import {
  beginBytes,
  executionBytes,
  Execution,
  Preparation,
  syncBytes,
  textBytes,
  type Exchange,
  type Prepared,
} from './exchange.ts';
import type { PendingStatement } from './template.ts';
import { serialize, typeOf } from './values.ts';

/** More prepared statements than Usher has. Others are sent unprepared, so that texts made of user input cannot fill the memory. */
const maxPrepared = 2_000;

/** Who has a connection for a transaction. */
export interface Reservation {
  /** The text of BEGIN, until it is sent: with the first statement. */
  begin: string | null;
  /** The transaction is over: committed, rolled back, or never begun because BEGIN failed. */
  onOver(): void;
  onLost(error: Error): void;
}

/** What the pool does when the state of a connection changes. */
export interface ConnectionOwner {
  /** The connection may take a statement that it could not take before. */
  onProgress(connection: Connection): void;
  /** For tests, which count statements. */
  onStatement(text: string): void;
  /** It is closed, and what it had is rejected. */
  onClosed(connection: Connection): void;
}

/**
 * An open connection, which sends statements without waiting for the results of those before (a pipeline). Results come in the order of the
 * statements, each ended by one ReadyForQuery.
 *
 *   shared      statements of anybody; each is a transaction of its own
 *   reserved    statements of one transaction
 *   closed      lost, destroyed or ended; rejects statements
 *
 * While it is `exclusive`, one statement is under way that others must not follow, and they wait in `#waiting`: a statement is being
 * prepared, whose parameters depend on the response; BEGIN may fail; a text may be a COPY.
 */
export class Connection {
  readonly #client: Client;
  readonly #owner: ConnectionOwner;
  /** Sent, and not yet answered, in the order of their responses. */
  readonly #sent: Exchange[] = [];
  readonly #waiting: PendingStatement[] = [];
  readonly #prepared = new Map<string, Prepared>();
  #names = 0;
  #isExclusive = false;
  #isClosed = false;
  #reservation: Reservation | null = null;

  /** The client is connected and has sent nothing but what opened it. */
  constructor(client: Client, owner: ConnectionOwner) {
    this.#client = client;
    this.#owner = owner;
    const { connection: wire } = client;
    wire.on('readyForQuery', ({ status }: { status: string }) => this.#onReady(status));
    wire.on('parameterDescription', ({ dataTypeIDs }: { dataTypeIDs: readonly number[] }) =>
      this.#sent[0]?.handleParameterDescription(dataTypeIDs),
    );
    client.on('error', (error) => this.destroy(error));
    client.on('end', () => this.destroy());
  }

  /** The number of statements under way. */
  get load(): number {
    return this.#sent.length + this.#waiting.length;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  get isReserved(): boolean {
    return this.#reservation !== null;
  }

  /** Whether a statement would be sent at once. */
  get accepts(): boolean {
    return !this.#isClosed && !this.#isExclusive && this.#waiting.length === 0;
  }

  /** What the server responds to next; a new object for each statement. */
  get unanswered(): object | null {
    return this.#sent[0] ?? null;
  }

  /** Gives the connection to a transaction. Nothing may be under way. */
  reserve(reservation: Reservation): void {
    this.#reservation = reservation;
  }

  /** Ends a reservation that has sent nothing. */
  release(): void {
    this.#reservation = null;
    this.#owner.onProgress(this);
  }

  run(pending: PendingStatement): void {
    this.#owner.onStatement(pending.text);
    if (this.#isClosed) pending.reject(lostConnection('the connection to the database is closed'));
    else if (this.accepts) this.#start(pending);
    else this.#waiting.push(pending);
  }

  /** Closes the connection, after telling the server. Nothing may be under way. Resolves when it is closed. */
  async end(): Promise<void> {
    const ended = this.#client.end();
    this.#close(lostConnection('the connection to the database was ended'));
    await ended;
  }

  /** Closes the connection at once, and rejects what is under way. */
  destroy(cause?: unknown): void {
    this.#client.connection.stream.destroy();
    if (this.#isClosed) return;
    this.#close(lostConnection('the connection to the database was lost', cause));
  }

  #close(lost: Error): void {
    this.#isClosed = true;
    for (const exchange of this.#sent.splice(0)) exchange.end(lost);
    for (const pending of this.#waiting.splice(0)) pending.reject(lost);
    const reservation = this.#reservation;
    this.#reservation = null;
    reservation?.onLost(lost);
    this.#owner.onClosed(this);
  }

  #onReady(status: string): void {
    // `I`: the connection is outside of a transaction.
    const over = status === 'I' && this.#reservation?.begin === null ? this.#reservation : null;
    this.#sent.shift()?.end(null);
    if (over !== null) this.#endReservation(over);
    while (this.#waiting.length > 0 && !this.#isExclusive && !this.#isClosed) {
      const next = this.#waiting.shift();
      if (next !== undefined) this.#start(next);
    }
    this.#owner.onProgress(this);
  }

  #endReservation(reservation: Reservation): void {
    for (const pending of this.#waiting.splice(0)) pending.reject(lostConnection('the transaction is over'));
    this.#reservation = null;
    reservation.onOver();
  }

  #start(pending: PendingStatement): void {
    if (pending.kind === 'prepared' || pending.kind === 'unprepared') this.#startStatement(pending, pending.kind);
    else if (this.#reservation === null || this.#reservation.begin === null) this.#sendText(pending);
    else this.#beginAlone(pending);
  }

  #send(exchange: Exchange): void {
    this.#sent.push(exchange);
    this.#client.query(exchange);
  }

  #startStatement(pending: PendingStatement, kind: 'prepared' | 'unprepared'): void {
    const types = pending.parameters.map(typeOf);
    const key = `${types.join()} ${pending.text}`;
    const prepared = kind === 'prepared' ? this.#prepared.get(key) : undefined;
    if (prepared !== undefined) return this.#execute(pending, prepared, () => this.#prepared.delete(key));
    const isKept = kind === 'prepared' && this.#prepared.size < maxPrepared;
    const name = isKept ? `s${(this.#names += 1)}` : '';
    this.#isExclusive = true;
    const preparation = new Preparation(name, pending.text, types, (error) => {
      this.#isExclusive = false;
      if (error !== null) return reject(pending, error);
      if (isKept) this.#prepared.set(key, preparation.prepared);
      this.#execute(pending, preparation.prepared, () => this.#prepared.delete(key));
    });
    this.#send(preparation);
  }

  #execute(pending: PendingStatement, prepared: Prepared, forget: () => void): void {
    const begin = this.#reservation?.begin ?? null;
    let bytes: Buffer;
    try {
      const values = pending.parameters.map((value, index) => serialize(value, prepared.types[index] ?? 0));
      bytes = executionBytes(prepared, values, begin);
    } catch (error) {
      return reject(pending, error);
    }
    if (this.#reservation !== null) this.#reservation.begin = null;
    if (begin !== null) this.#isExclusive = true;
    const execution = new Execution(bytes, prepared.columns, begin !== null, (error) => {
      if (begin !== null) this.#isExclusive = false;
      if (isStale(error)) forget();
      if (error === null) pending.resolve(execution.result);
      else reject(pending, error);
    });
    this.#send(execution);
  }

  /** Before a text, BEGIN is sent alone: of several statements, the server would skip only one if BEGIN failed. */
  #beginAlone(pending: PendingStatement): void {
    const begin = this.#reservation?.begin ?? '';
    if (this.#reservation !== null) this.#reservation.begin = null;
    this.#isExclusive = true;
    this.#send(
      new Execution(Buffer.concat([beginBytes(begin), syncBytes]), [], false, (error) => {
        this.#isExclusive = false;
        if (error === null) this.#sendText(pending);
        else reject(pending, error);
      }),
    );
  }

  #sendText(pending: PendingStatement): void {
    this.#isExclusive = true;
    const end = (error: Error | null, result?: Parameters<PendingStatement['resolve']>[0]): void => {
      this.#isExclusive = false;
      if (error !== null) reject(pending, error);
      else if (result !== undefined) pending.resolve(result);
    };
    if (pending.kind === 'copy in') return this.#send(new CopyIn(pending, end));
    if (pending.kind === 'copy out') return this.#send(new CopyOut(pending, this.#client.connection, end));
    const execution = new Execution(textBytes(pending.text), [], false, (error) => end(error, execution.result));
    this.#send(execution);
  }
}

/** The stack of an error of the server begins in the parser of its messages; the statement's own stack is what helps. */
function reject({ origin, reject: rejectStatement }: PendingStatement, error: unknown): void {
  const reason = error instanceof Error ? error : new Error(String(error));
  if (reason instanceof pg.DatabaseError) showOrigin(reason, origin);
  rejectStatement(reason);
}

/** Lets the stack of an error of the server lead to the statement, when somebody reads it. */
function showOrigin(error: Error, origin: Error | null): void {
  const frames = (): string => origin?.stack?.split('\n').slice(1).join('\n') ?? '';
  const stack = { get: () => `${error.name}: ${error.message}\n${frames()}`, configurable: true };
  Object.defineProperty(error, 'stack', stack);
}
