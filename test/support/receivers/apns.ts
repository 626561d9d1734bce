import { randomUUID, type KeyObject } from 'node:crypto';
import type { Config } from '../../../packages/server/src/config.ts';
import { Sealer } from '../../../packages/server/src/identity/sealer.ts';
import { openDatabase, type Database } from '../../../packages/server/src/platform/database/database.ts';
import type { ApnsLimits } from '../../../packages/server/src/channels/apns/limits.ts';
import { ApnsSender, type ApnsDelivery } from '../../../packages/server/src/channels/apns/sender.ts';
import type { Attempt } from '../../../packages/server/src/channels/attempt.ts';
import { appleCa, appleSettings, startApple, type FakeApple } from '../services/apple.ts';
import { cloneDatabase } from '../database/database.ts';

export type Settings = NonNullable<Config['apns']>;

interface AppleAndSender {
  readonly apple: FakeApple;
  readonly sender: ApnsSender;
  readonly settings: Settings;
  readonly publicKey: KeyObject;
}

/** Fake Apple servers and senders on one database. `cleanUp` closes everything that a test has started. */
export class ApnsFixture {
  readonly database: Database;
  readonly #deferred: (() => void | Promise<void>)[] = [];

  private constructor(database: Database) {
    this.database = database;
  }

  static async open(): Promise<ApnsFixture> {
    return new ApnsFixture(openDatabase(await cloneDatabase(), 4));
  }

  /** Starts a fake Apple, and a sender with a key of its own. */
  async startAppleAndSender(limits: Partial<ApnsLimits> = {}, maxConcurrentStreams?: number): Promise<AppleAndSender> {
    const apple = await this.apple(maxConcurrentStreams);
    const { settings, publicKey } = appleSettings(apple.url);
    return { apple, sender: this.sender(settings, limits), settings, publicKey };
  }

  async apple(...options: Parameters<typeof startApple>): Promise<FakeApple> {
    const apple = await startApple(...options);
    this.defer(async () => apple.close());
    return apple;
  }

  /** `ca`: the certificate authority to trust; `null` stands for the public ones. */
  sender(settings: Settings, limits: Partial<ApnsLimits> = {}, ca: string | null = appleCa): ApnsSender {
    const { sql } = this.database;
    const sender = new ApnsSender({ settings, sql, sealer: new Sealer(sql), limits, ...(ca === null ? {} : { ca }) });
    this.defer(() => sender.close());
    return sender;
  }

  defer(end: () => void | Promise<void>): void {
    this.#deferred.push(end);
  }

  async cleanUp(): Promise<void> {
    for (const end of this.#deferred.splice(0).toReversed()) await end();
  }

  async close(): Promise<void> {
    await this.database.close(1_000);
  }
}

export const registeredAt = new Date('2026-03-01T12:00:00.000Z');

/** The delivery of a message. The device and the application are the same unless `target` says otherwise. */
export function delivery(target: Partial<ApnsDelivery['target']> = {}): ApnsDelivery {
  const id = randomUUID();
  const type = 'engagement.chat.message';
  const defaults = {
    deviceToken: 'a1b2c3',
    topic: 'com.example.App',
    environment: 'sandbox',
    contentAvailable: false,
  } as const;
  return {
    target: { ...defaults, ...target },
    registeredAt,
    event: { id, type, json: JSON.stringify({ event_type: type, event_id: id, message: { id, content: 'hello' } }) },
  };
}

export async function sendMany(sender: ApnsSender, count: number): Promise<Attempt[]> {
  return Promise.all(Array.from({ length: count }, async () => sender.send(delivery())));
}

/** The number of attempts by verdict. */
export function countVerdicts(attempts: readonly Attempt[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { verdict } of attempts) counts[verdict] = (counts[verdict] ?? 0) + 1;
  return counts;
}
