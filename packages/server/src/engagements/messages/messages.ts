import type { Hints } from '../../events/hints.ts';
import type { Sql } from '../../platform/database.ts';
import type { Log } from '../../platform/log.ts';
import { WriteBatches } from '../write-batches.ts';
import { isBatched, putMessages, type BatchedMessage, type ChatMessage } from './batch-store.ts';
import type { MessageRow } from './message.ts';
import { putMessage } from './store.ts';

interface MessagesOptions {
  /** The pool of the batches. */
  readonly sql: Sql;
  readonly hints: Hints;
  readonly log: Log;
}

/** Writes the messages of this process in batches. Rare kinds are written singly: those with files and responses to choices. */
export class Messages {
  readonly #batches: WriteBatches<BatchedMessage, MessageRow>;
  readonly #hints: Hints;

  constructor({ sql, hints, log }: MessagesOptions) {
    this.#hints = hints;
    this.#batches = new WriteBatches({
      writeBatch: async (messages) => putMessages(sql, messages),
      onCommitted: (accountId) => hints.notify(accountId),
      log,
      subject: 'messages',
    });
  }

  /** Like `putMessage`, and hints to the readers of the log.. */
  async send(sql: Sql, message: ChatMessage): Promise<MessageRow | null> {
    if (isBatched(message)) return this.#batches.write(message, async () => putMessage(sql, message));
    const sent = await putMessage(sql, message);
    if (sent !== null) this.#hints.notify(message.accountId);
    return sent;
  }

  async stop(): Promise<void> {
    await this.#batches.stop();
  }
}
