import assert from 'node:assert/strict';
import type { NewMessage } from '../../../../packages/server/src/engagements/messages/store.ts';
import {
  inTransaction,
  isDatabaseUnavailable,
  type Sql,
} from '../../../../packages/server/src/platform/database/database.ts';
import { newId, type EngagementId, type VisitorId } from '../../../../packages/server/src/platform/ids.ts';
import type { Random } from '../random.ts';
import type { Step } from '../scheduler.ts';
import type { ClusterProcess } from './process.ts';
import type { ClusterAccount } from './setup.ts';

interface WritersOptions {
  readonly account: ClusterAccount;
  readonly random: Random;
  readonly onActivity: () => void;
  readonly onError: (error: unknown) => void;
}

/** More requests than this of one visitor are not under way at once. */
const maxUnderWay = 2;

/** Visitors who write messages, alone or several in a transaction, which may be rolled back. */
export class Writers {
  /** The messages whose requests were answered after their commit. */
  readonly #acknowledged = new Set<string>();
  readonly #options: WritersOptions;
  /** The process that has each request. */
  readonly #underWay = new Map<object, { readonly process: ClusterProcess; readonly engagementId: EngagementId }>();
  #messages = 0;

  constructor(options: WritersOptions) {
    this.#options = options;
  }

  /** The number of the last message that somebody has begun to write. Each message has its number as its content. */
  get lastNumber(): number {
    return this.#messages;
  }

  get areWaiting(): boolean {
    return this.#underWay.size > 0;
  }

  steps(processes: readonly ClusterProcess[]): Step[] {
    const { account, random } = this.#options;
    return account.engagements.flatMap((engagement, index) => {
      const count = [...this.#underWay.values()].filter(({ engagementId }) => engagementId === engagement.id).length;
      if (count >= maxUnderWay) return [];
      const run = (): void => this.#write(random.pick(processes), engagement);
      return [{ name: `visitor ${index + 1} writes`, run, weight: 0.2 }];
    });
  }

  onKilled(process: ClusterProcess): void {
    for (const [key, each] of this.#underWay) if (each.process === process) this.#underWay.delete(key);
  }

  /** What was acknowledged is stored. */
  async check(sql: Sql): Promise<void> {
    const rows = await sql<{ id: string }[]>`
      SELECT payload -> 'message' ->> 'id' AS id
        FROM events WHERE account_id = ${this.#options.account.id} AND type = 'engagement.chat.message'`;
    const stored = new Set(rows.map(({ id }) => id));
    for (const id of this.#acknowledged) assert.ok(stored.has(id), `the message ${id} is lost`);
  }

  #write(process: ClusterProcess, engagement: { readonly id: EngagementId; readonly visitorId: VisitorId }): void {
    const { account, random, onActivity, onError } = this.#options;
    const { hints, host, messages } = process;
    const message = (): NewMessage => ({
      accountId: account.id,
      engagementId: engagement.id,
      id: newId<string>(),
      by: { kind: 'visitor', id: engagement.visitorId },
      type: 'chat',
      content: String((this.#messages += 1)),
      attachment: null,
      metadata: null,
    });
    const isTransaction = random.chance(0.6);
    const written = Array.from({ length: isTransaction ? 1 + random.below(3) : 1 }, message);
    const isRolledBack = isTransaction && random.chance(0.1);
    const write = async (): Promise<void> => {
      if (!isTransaction) {
        for (const each of written) await messages.write(host.batchesSql, each);
        return;
      }
      await inTransaction(host.turnsSql, async (sql) => {
        for (const each of written) await messages.write(sql, each);
        if (isRolledBack) throw new RolledBack();
      });
      hints.notify(account.id);
    };
    const key = {};
    this.#underWay.set(key, { process, engagementId: engagement.id });
    process.run(write).then(
      () => {
        onActivity();
        if (this.#underWay.delete(key)) for (const { id } of written) this.#acknowledged.add(id);
      },
      (error: unknown) => {
        onActivity();
        if (!this.#underWay.delete(key)) return;
        if (!(error instanceof RolledBack) && !isDatabaseUnavailable(error)) onError(error);
      },
    );
  }
}

class RolledBack extends Error {}
