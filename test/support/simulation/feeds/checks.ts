import assert from 'node:assert/strict';
import type { Sql } from '../../../../packages/server/src/platform/database/database.ts';
import type { ClusterAccount } from '../cluster/setup.ts';
import type { SimulatedReader } from './reader.ts';

interface CommittedMessage {
  readonly engagementId: string;
  readonly visitorId: string;
  readonly number: number;
}

/** After so many pauses nobody waits any more: what has not arrived is missed. */
const maxWaits = 60;

/** What Usher promises about live feeds: see the table in docs/architecture.md. */
export class FeedChecks {
  readonly #sql: Sql;
  readonly #account: ClusterAccount;
  readonly #readers: readonly SimulatedReader[];
  /** The messages that were committed before a reader had opened a feed: of those, the reader may have missed some. */
  readonly #before = new Map<SimulatedReader, ReadonlySet<number>>();

  #waits = 0;

  constructor(sql: Sql, account: ClusterAccount, readers: readonly SimulatedReader[]) {
    this.#sql = sql;
    this.#account = account;
    this.#readers = readers;
  }

  /** After each step: nothing is sent twice, or before it was committed. */
  async checkStep(): Promise<void> {
    const news = this.#readers.filter((reader) => reader.hasNews);
    if (news.length === 0) return;
    const committed = new Set((await this.#committed()).map(({ number }) => number));
    for (const reader of news) {
      const numbers = reader.takeNews();
      if (reader.isOpen && !this.#before.has(reader)) this.#before.set(reader, committed);
      for (const number of numbers)
        assert.ok(committed.has(number), `${reader.name} was sent the message ${number}, which is not committed`);
      assert.equal(
        new Set(reader.received).size,
        reader.received.length,
        `${reader.name} was sent a message twice: ${reader.received.join()}`,
      );
    }
  }

  /** Whether a reader still waits for a message: processes look for those that nobody has announced. */
  async waitsMs(): Promise<number | null> {
    const committed = await this.#committed();
    this.#waits += 1;
    return this.#waits > maxWaits || this.#readers.every((reader) => this.#missing(reader, committed).length === 0)
      ? null
      : 0;
  }

  async checkEnd(): Promise<void> {
    const committed = await this.#committed();
    for (const reader of this.#readers) {
      assert.deepEqual(this.#missing(reader, committed), [], `${reader.name} has missed messages`);
      for (const { id } of this.#account.engagements) {
        const order = committed.filter(({ engagementId }) => engagementId === id).map(({ number }) => number);
        const received = reader.received.filter((number) => order.includes(number));
        const expected = order.filter((number) => received.includes(number));
        assert.deepEqual(received, expected, `${reader.name} was sent the messages of an engagement in their order`);
      }
    }
  }

  #missing(reader: SimulatedReader, committed: readonly CommittedMessage[]): number[] {
    const before = this.#before.get(reader);
    return committed
      .filter((message) => before?.has(message.number) === false && reader.mayRead(message.visitorId))
      .map(({ number }) => number)
      .filter((number) => !reader.received.includes(number));
  }

  /** In the order of the log. */
  async #committed(): Promise<CommittedMessage[]> {
    const sql = this.#sql;
    return sql<CommittedMessage[]>`
      SELECT engagement_id AS "engagementId", visitor_id AS "visitorId",
             (payload -> 'message' ->> 'content')::integer AS number
        FROM events WHERE account_id = ${this.#account.id} AND type = 'engagement.chat.message' ORDER BY seq`;
  }
}
