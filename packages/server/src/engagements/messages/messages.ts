import type { Hints } from '../../events/hints.ts';
import type { Sql } from '../../platform/database/database.ts';
import type { AccountId } from '../../platform/ids.ts';
import type { Log } from '../../platform/log.ts';
import { EngagementWrites } from '../writes.ts';
import type { MessageRow } from './message.ts';
import {
  acknowledgeMessages,
  putDependentMessage,
  putMessages,
  type Acknowledgement,
  type ChatMessage,
  type NewMessage,
} from './store.ts';

interface MessagesOptions {
  /** The pool of the batches. */
  readonly sql: Sql;
  readonly hints: Hints;
  readonly log: Log;
}

/** Writes the messages of this process and their acknowledgements, and hints to the readers of the log. */
export class Messages {
  readonly #messages: EngagementWrites<NewMessage, MessageRow>;
  readonly #acknowledgements: EngagementWrites<Acknowledgement, MessageRow>;
  readonly #hints: Hints;

  constructor({ sql, hints, log }: MessagesOptions) {
    this.#hints = hints;
    const options = {
      sql,
      log,
      onCommitted: (accountId: AccountId, writes: number) => hints.notify(accountId, writes),
    };
    this.#messages = new EngagementWrites({ ...options, statement: putMessages, subject: 'messages' });
    this.#acknowledgements = new EngagementWrites({
      ...options,
      statement: acknowledgeMessages,
      subject: 'acknowledgements',
    });
  }

  /** `null`: the message is refused, or its id exists. */
  async send(sql: Sql, message: ChatMessage): Promise<MessageRow | null> {
    if (message.chosen === null && message.files === null) return this.#messages.write(sql, message);
    const sent = await putDependentMessage(sql, message);
    if (sent !== null) this.#hints.notify(message.accountId);
    return sent;
  }

  /** `null`: the message was acknowledged before, or the caller is not its recipient. */
  async acknowledge(sql: Sql, acknowledgement: Acknowledgement): Promise<MessageRow | null> {
    return this.#acknowledgements.write(sql, acknowledgement);
  }

  async stop(): Promise<void> {
    await Promise.all([this.#messages.stop(), this.#acknowledgements.stop()]);
  }
}
