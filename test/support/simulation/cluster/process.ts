import pino from 'pino';
import type { MessageRow } from '../../../../packages/server/src/engagements/messages/message.ts';
import { putMessages, type NewMessage } from '../../../../packages/server/src/engagements/messages/store.ts';
import { EngagementWrites } from '../../../../packages/server/src/engagements/writes.ts';
import { Hints } from '../../../../packages/server/src/events/hints.ts';
import { isDatabaseUnavailable } from '../../../../packages/server/src/platform/database/database.ts';
import type { Log } from '../../../../packages/server/src/platform/log.ts';
import type { Host } from '../process.ts';
import { SimulatedRowChanges } from '../row-changes.ts';
import { runAs } from '../timers.ts';
import type { Part } from './part.ts';

interface ProcessOptions {
  readonly name: string;
  readonly host: Host;
  readonly part: Part;
  /** Something of the account was committed by this process, so the others are notified. */
  readonly onCommitted: (accountId: string) => void;
  /** Is called with each line of the log: only errors are logged. */
  readonly onLog: (line: string) => void;
}

/** A process of the cluster, as far as it writes messages and does its part. */
export class ClusterProcess {
  readonly name: string;
  readonly host: Host;
  readonly changes = new SimulatedRowChanges();
  readonly hints: Hints;
  readonly messages: EngagementWrites<NewMessage, MessageRow>;
  readonly log: Log;
  readonly #part: Part;
  #closePart: () => Promise<void> = async () => Promise.resolve();
  /** Settled when the process has started, or was stopped before. */
  #started: Promise<void> = Promise.resolve();
  /** It is being stopped, or was killed. */
  #isEnding = false;

  constructor({ name, host, part, onCommitted, onLog }: ProcessOptions) {
    this.name = name;
    this.host = host;
    this.#part = part;
    this.log = pino({ level: 'error' }, { write: onLog });
    this.hints = new Hints(host.turnsSql, this.changes, this.log);
    this.hints.on((accountId, source) => source === 'here' && onCommitted(accountId));
    this.messages = new EngagementWrites<NewMessage, MessageRow>({
      sql: host.batchesSql,
      statement: putMessages,
      onCommitted: (accountId, writes) => this.hints.notify(accountId, writes),
      log: this.log,
      subject: 'messages',
    });
  }

  /** Runs `work` as this process. */
  run<T>(work: () => T): T {
    return runAs(this.host, work);
  }

  start(): void {
    this.#started = this.run(async () => this.#start());
  }

  /** All its connections are lost, and it opens no more. */
  kill(): void {
    this.#isEnding = true;
    this.host.close();
  }

  /** As a process that ends: what is under way is finished. */
  async stop(): Promise<void> {
    this.#isEnding = true;
    await this.run(async () => {
      await this.#started;
      await this.#closePart();
      await this.messages.stop();
      this.hints.stop();
    });
  }

  /** A process whose database is lost while it starts begins again. */
  async #start(): Promise<void> {
    while (!this.#isEnding) {
      try {
        this.#closePart = await this.#part.open(this);
        return;
      } catch (error) {
        if (!isDatabaseUnavailable(error)) throw error;
      }
    }
  }
}
