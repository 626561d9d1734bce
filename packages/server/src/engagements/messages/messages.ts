import type { Hints } from '../../events/hints.ts';
import type { Sql } from '../../platform/database.ts';
import type { AccountId } from '../../platform/ids.ts';
import type { Log } from '../../platform/log.ts';
import { currentTrace } from '../../platform/trace.ts';
import { WriteBatches } from '../write-batches.ts';
import {
  acknowledgeMessages,
  isBatched,
  putMessages,
  type BatchedAcknowledgement,
  type BatchedMessage,
  type ChatMessage,
} from './batch-store.ts';
import type { MessageRow } from './message.ts';
import { acknowledgeMessage, putMessage } from './store.ts';

interface MessagesOptions {
  /** The pool of the batches. */
  readonly sql: Sql;
  readonly hints: Hints;
  readonly log: Log;
}

/**
 * Writes the messages of this process and their acknowledgements in batches. Rare kinds are written singly: messages with files, and
 * responses to choices.
 */
export class Messages {
  readonly #messages: WriteBatches<BatchedMessage, MessageRow>;
  readonly #acknowledgements: WriteBatches<BatchedAcknowledgement, MessageRow>;
  readonly #hints: Hints;

  constructor({ sql, hints, log }: MessagesOptions) {
    this.#hints = hints;
    const onCommitted = (accountId: AccountId, writes: number): void => hints.notify(accountId, writes);
    this.#messages = new WriteBatches({
      writeBatch: async (messages) => putMessages(sql, messages),
      onCommitted,
      log,
      subject: 'messages',
    });
    this.#acknowledgements = new WriteBatches({
      writeBatch: async (acknowledgements) => acknowledgeMessages(sql, acknowledgements),
      onCommitted,
      log,
      subject: 'acknowledgements',
    });
  }

  /** Like `putMessage`, and hints to the readers of the log. */
  async send(sql: Sql, message: ChatMessage): Promise<MessageRow | null> {
    if (isBatched(message)) {
      const trace = currentTrace();
      const batched = trace === null ? message : { ...message, trace };
      return this.#messages.write(batched, async () => putMessage(sql, message));
    }
    const sent = await putMessage(sql, message);
    if (sent !== null) this.#hints.notify(message.accountId);
    return sent;
  }

  /** Like `acknowledgeMessage`, and hints to the readers of the log. */
  async acknowledge(sql: Sql, acknowledgement: BatchedAcknowledgement): Promise<MessageRow | null> {
    return this.#acknowledgements.write(acknowledgement, async () => acknowledgeMessage(sql, acknowledgement));
  }

  async stop(): Promise<void> {
    await Promise.all([this.#messages.stop(), this.#acknowledgements.stop()]);
  }
}
