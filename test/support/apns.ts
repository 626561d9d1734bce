import { randomUUID, type KeyObject } from 'node:crypto';
import type { Config } from '../../packages/server/src/config.ts';
import { Sealer } from '../../packages/server/src/identity/sealer.ts';
import { openDatabase, type Database } from '../../packages/server/src/platform/database.ts';
import type { ApnsLimits } from '../../packages/server/src/webhooks/channels/apns/limits.ts';
import { ApnsSender, type ApnsDelivery } from '../../packages/server/src/webhooks/channels/apns/sender.ts';
import type { Attempt } from '../../packages/server/src/webhooks/channels/attempt.ts';
import { appleCa, appleSettings, startApple, type FakeApple } from './apple.ts';
import { cloneDatabase } from './database.ts';

export type Settings = NonNullable<Config['apns']>;

interface Scene {
  readonly apple: FakeApple;
  readonly sender: ApnsSender;
  readonly settings: Settings;
  readonly publicKey: KeyObject;
}

/** Apples and those who send to them, on one database; what a test has begun ends with it. */
export class ApnsStage {
  readonly database: Database;
  readonly #ends: (() => void | Promise<void>)[] = [];

  private constructor(database: Database) {
    this.database = database;
  }

  static async open(): Promise<ApnsStage> {
    return new ApnsStage(openDatabase(await cloneDatabase(), 4));
  }

  /** An Apple of its own, a key of its own, and whoever sends with it. */
  async scene(limits: Partial<ApnsLimits> = {}, maxConcurrentStreams?: number): Promise<Scene> {
    const apple = await this.apple(maxConcurrentStreams);
    const { settings, publicKey } = appleSettings(apple.url);
    return { apple, sender: this.sender(settings, limits), settings, publicKey };
  }

  async apple(...given: Parameters<typeof startApple>): Promise<FakeApple> {
    const apple = await startApple(...given);
    this.later(async () => apple.close());
    return apple;
  }

  /** `null`: whom everybody trusts, and nobody else. */
  sender(settings: Settings, limits: Partial<ApnsLimits> = {}, ca: string | null = appleCa): ApnsSender {
    const { sql } = this.database;
    const sender = new ApnsSender({ settings, sql, sealer: new Sealer(sql), limits, ...(ca === null ? {} : { ca }) });
    this.later(() => sender.close());
    return sender;
  }

  later(end: () => void | Promise<void>): void {
    this.#ends.push(end);
  }

  async end(): Promise<void> {
    for (const end of this.#ends.splice(0).toReversed()) await end();
  }

  async close(): Promise<void> {
    await this.database.close(1_000);
  }
}

export const registeredAt = new Date('2026-03-01T12:00:00.000Z');

/** A message, to a device and application that are always the same but for what is given. */
export function delivery(target: Partial<ApnsDelivery['target']> = {}): ApnsDelivery {
  const id = randomUUID();
  const type = 'engagement.chat.message';
  const same = {
    deviceToken: 'a1b2c3',
    topic: 'com.example.App',
    environment: 'sandbox',
    contentAvailable: false,
  } as const;
  return {
    target: { ...same, ...target },
    registeredAt,
    event: { id, type, json: JSON.stringify({ event_type: type, event_id: id, message: { id, content: 'hello' } }) },
  };
}

export async function sendMany(sender: ApnsSender, count: number): Promise<Attempt[]> {
  return Promise.all(Array.from({ length: count }, async () => sender.send(delivery())));
}

/** How many came to what. */
export function tally(attempts: readonly Attempt[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { verdict } of attempts) counts[verdict] = (counts[verdict] ?? 0) + 1;
  return counts;
}
