import { lostConnection, databaseErrorCode } from './errors.ts';
import type { Connection } from './connection.ts';
import { Rows } from './rows.ts';
import { createTag, type PendingStatement, type Sql, type StatementKind } from './template.ts';

/** The handle of a transaction. */
export interface TransactionSql extends Sql {
  /** Destroys the transaction's connection, which rejects its statements. The server rolls back. */
  abandon(): void;
  /** Sends COMMIT behind the statements under way if possible. No statement may follow. */
  sendCommit(): Promise<void>;
}

export type Work<T> = (sql: TransactionSql) => Promise<T> | T;

/**
 * A transaction on a connection that is reserved for it.
 *
 *   pending   nothing was sent; BEGIN goes with the first statement
 *   begun     statements are sent as they come
 *   ending    `work` has settled or has asked for COMMIT; more statements are rejected
 *   over      committed or rolled back, or BEGIN failed; the connection belongs to others
 *   lost      the connection was lost; the server has rolled back, or committed if COMMIT had been sent
 */
export class Transaction {
  readonly #connection: Connection;
  readonly #kind: StatementKind;
  readonly #lost = Promise.withResolvers<never>();
  /** What the connection has to send before the first statement. */
  begin: string | null;
  /** Whether statements are rejected: the transaction is ending, over or lost. */
  #refuses = false;
  #isOver = false;
  #loss: Error | null = null;
  /** The first error of a statement. A transaction with a failed statement cannot commit, even if `work` ignores the error. */
  #firstError: Error | null = null;
  #commit: Promise<Rows> | null = null;

  constructor(connection: Connection, begin: string, kind: StatementKind) {
    this.#connection = connection;
    this.#kind = kind;
    this.begin = begin;
    this.#lost.promise.catch(() => undefined);
    connection.reserve(this);
  }

  async run<T>(work: Work<T>): Promise<T> {
    const sql = Object.assign(
      createTag(this.#kind, (pending) => this.#run(pending)),
      { abandon: () => this.#abandon(), sendCommit: async () => this.#sendCommit() },
    );
    try {
      return await Promise.race([this.#complete(sql, work), this.#lost.promise]);
    } finally {
      // The connection does not know that the transaction is over, because it has sent nothing.
      if (!this.#isOver && this.#isUntouched) this.#release();
    }
  }

  /** Nothing was sent, and nothing will be: a statement that is being prepared has not sent BEGIN yet. */
  get #isUntouched(): boolean {
    return this.begin !== null && this.#connection.load === 0;
  }

  onOver(): void {
    this.#isOver = true;
    this.#refuses = true;
  }

  onLost(error: Error): void {
    this.#isOver = true;
    this.#refuses = true;
    this.#loss = error;
    this.#lost.reject(error);
  }

  async #complete<T>(sql: TransactionSql, work: Work<T>): Promise<T> {
    let result: T;
    try {
      result = await work(sql);
      if (this.#firstError !== null) throw this.#firstError;
    } catch (error) {
      await this.#rollBack();
      // A statement after the failed one reports only that the transaction has failed.
      throw (databaseErrorCode(error) === inFailedTransaction && this.#firstError) || error;
    }
    this.#refuses = true;
    if (this.#isUntouched) return result;
    // The server answers ROLLBACK, and no error, if a statement failed.
    const { command } = await (this.#commit ??= this.#sendText('commit'));
    if (command !== 'COMMIT') throw this.#firstError ?? lostConnection('the transaction was rolled back');
    return result;
  }

  async #rollBack(): Promise<void> {
    this.#refuses = true;
    if (this.#commit !== null) await this.#commit.catch(() => undefined);
    else if (!this.#isOver && !this.#isUntouched) await this.#sendText('rollback').catch(() => undefined);
  }

  #run(pending: PendingStatement): void {
    const reject = (error: Error): void => {
      this.#firstError ??= error;
      pending.reject(error);
    };
    if (this.#refuses) reject(this.#loss ?? lostConnection('the transaction is over'));
    else this.#connection.run({ ...pending, reject });
  }

  async #sendText(text: string): Promise<Rows> {
    return new Promise((resolve, reject) => {
      const onResult = (result: unknown): void => {
        if (result instanceof Rows) resolve(result);
      };
      this.#connection.run({ text, parameters: [], kind: 'text', origin: null, resolve: onResult, reject });
    });
  }

  async #sendCommit(): Promise<void> {
    // A statement that waits would come after COMMIT, so then COMMIT is sent when all are answered.
    if (this.#refuses || this.#firstError !== null || this.begin !== null || !this.#connection.accepts) return;
    this.#refuses = true;
    this.#commit = this.#sendText('commit');
    await this.#commit;
  }

  #abandon(): void {
    if (!this.#isOver) this.#connection.destroy();
  }

  #release(): void {
    this.#isOver = true;
    this.#connection.release();
  }
}

const inFailedTransaction = '25P02';
