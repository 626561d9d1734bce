import pino from 'pino';
import { OpenChannels } from '../../../../packages/server/src/channels/open-channels.ts';
import type { MessageRow } from '../../../../packages/server/src/engagements/messages/message.ts';
import { putMessages, type NewMessage } from '../../../../packages/server/src/engagements/messages/store.ts';
import { EngagementWrites } from '../../../../packages/server/src/engagements/writes.ts';
import { Hints } from '../../../../packages/server/src/events/hints.ts';
import { Sealer } from '../../../../packages/server/src/identity/sealer.ts';
import { ClockWatch } from '../../../../packages/server/src/platform/clock/clock-watch.ts';
import { isDatabaseUnavailable } from '../../../../packages/server/src/platform/database/database.ts';
import { DatabaseSession } from '../../../../packages/server/src/platform/database/database-session.ts';
import type { Log } from '../../../../packages/server/src/platform/log.ts';
import { AddressGuard } from '../../../../packages/server/src/platform/outbound/address-guard.ts';
import { NameResolver } from '../../../../packages/server/src/platform/outbound/names/name-resolver.ts';
import { Dispatcher } from '../../../../packages/server/src/webhooks/dispatcher/dispatcher.ts';
import { WebhookCache } from '../../../../packages/server/src/webhooks/dispatcher/reading/webhook-cache.ts';
import { Transport } from '../../../../packages/server/src/webhooks/dispatcher/transport.ts';
import type { Host } from '../process.ts';
import { SimulatedRowChanges } from '../row-changes.ts';
import { runAs } from '../timers.ts';
import type { Receivers } from './receivers.ts';

interface ProcessOptions {
  readonly name: string;
  readonly host: Host;
  readonly receivers: Receivers;
  /** Something of the account was committed by this process, so the others are notified. */
  readonly onCommitted: (accountId: string) => void;
  /** Is called with each line of the log: only errors are logged. */
  readonly onLog: (line: string) => void;
}

/** The simulated channel has no names to resolve. */
const names = new NameResolver();

/** A process of the cluster, as far as it writes messages and delivers their events. */
export class DeliveryProcess {
  readonly name: string;
  readonly host: Host;
  readonly changes = new SimulatedRowChanges();
  readonly hints: Hints;
  readonly messages: EngagementWrites<NewMessage, MessageRow>;
  readonly #receivers: Receivers;
  readonly #log: Log;
  #dispatcher: Dispatcher | null = null;
  #close: () => Promise<void> = async () => Promise.resolve();
  /** Settled when the process has started, or was stopped before. */
  #started: Promise<void> = Promise.resolve();
  /** It is being stopped, or was killed. */
  #isEnding = false;

  constructor({ name, host, receivers, onCommitted, onLog }: ProcessOptions) {
    this.name = name;
    this.host = host;
    this.#receivers = receivers;
    this.#log = pino({ level: 'error' }, { write: onLog });
    this.hints = new Hints(host.turnsSql, this.changes, this.#log);
    this.hints.on((accountId, source) => source === 'here' && onCommitted(accountId));
    this.messages = new EngagementWrites<NewMessage, MessageRow>({
      sql: host.batchesSql,
      statement: putMessages,
      onCommitted: (accountId, writes) => this.hints.notify(accountId, writes),
      log: this.#log,
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

  /** As a process that ends: what is under way is finished, and its leases are released. */
  async stop(): Promise<void> {
    this.#isEnding = true;
    await this.run(async () => {
      await this.#started;
      await this.#dispatcher?.stop();
      await this.messages.stop();
      this.hints.stop();
      await this.#close();
    });
  }

  /** A process whose database is lost while it starts begins again. */
  async #start(): Promise<void> {
    while (!this.#isEnding) {
      try {
        return await this.#open();
      } catch (error) {
        if (!isDatabaseUnavailable(error)) throw error;
      }
    }
  }

  async #open(): Promise<void> {
    const { host, hints, changes } = this;
    const sql = host.dispatcherSql;
    const log = this.#log;
    const session = await DatabaseSession.open(host.address);
    const clock = await ClockWatch.start(host.turnsSql, log).catch(async (error: unknown) => {
      await session.close();
      throw error;
    });
    const sealer = new Sealer(sql);
    const guard = new AddressGuard([], names);
    const sender = {
      name: this.name,
      epochOf: (destination: object) =>
        [...(this.#dispatcher?.destinations ?? [])].find((each) => each === destination)?.epoch ?? null,
    };
    const channels = new OpenChannels([this.#receivers.channelOf(sender)], {
      settings: { apns: null },
      sql,
      sealer,
      guards: { registered: guard, attached: guard },
      lookup: names.lookupFor('simulation'),
    });
    this.#dispatcher = new Dispatcher({
      sql,
      hints,
      rowChanges: changes,
      session,
      clock,
      webhookCache: new WebhookCache({ sql, sealer, changes, channels }),
      transport: new Transport({ sql, sealer, names, channels }),
      log,
      watch: {
        outcome: () => undefined,
        batch: () => undefined,
        oldestDue: () => undefined,
        leaseLost: () => undefined,
        roundFailed: () => undefined,
      },
    });
    this.#close = async () => {
      clock.stop();
      await session.close();
    };
  }
}
