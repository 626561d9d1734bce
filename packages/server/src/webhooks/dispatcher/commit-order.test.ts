import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { WebhookId } from '../../events/attach-webhooks.ts';
import type { DestinationId } from '../../events/destination.ts';
import type { AccountId } from '../../platform/ids.ts';
import type { Delivery, DeliveryId } from './delivery.ts';
import { Destination } from './destination.ts';
import type { Wanted } from './store.ts';
import { Watermark, type Moment } from './watermark.ts';

/**
 * A model of commit order against the reader of the dispatcher. The database is modelled as PostgreSQL documents it: ids of
 * transactions and numbers of events are given at once, commits come in any order, a snapshot's `xmax` is one past the highest
 * transaction that has *ended*. Events of one engagement are written under the lock of its row. The reader is the real one:
 * `Watermark`, `Destination` and `Lanes`.
 */
class ModelDatabase {
  #nextXid = 1;
  #latestEnded = 0;
  #seq = 0;
  readonly #running = new Map<number, { readonly engagement: number; readonly written: Delivery[] }>();
  /** What is committed and not yet written off. */
  readonly #rows = new Map<DeliveryId, Delivery>();
  readonly committed: Delivery[] = [];

  get running(): readonly number[] {
    return [...this.#running.keys()];
  }

  /** `false`: somebody else has the engagement's row. */
  begin(engagement: number): boolean {
    for (const each of this.#running.values()) if (each.engagement === engagement) return false;
    this.#running.set(this.#nextXid, { engagement, written: [] });
    this.#nextXid += 1;
    return true;
  }

  write(xid: number): void {
    const transaction = this.#running.get(xid);
    if (transaction === undefined) return;
    this.#seq += 1;
    transaction.written.push(deliveryOf(this.#seq, transaction.engagement));
  }

  end(xid: number, how: 'commit' | 'abort'): void {
    const transaction = this.#running.get(xid);
    if (transaction === undefined) return;
    this.#running.delete(xid);
    this.#latestEnded = Math.max(this.#latestEnded, xid);
    if (how === 'abort') return;
    for (const delivery of transaction.written) {
      this.#rows.set(delivery.id, delivery);
      this.committed.push(delivery);
    }
  }

  moment(): Moment {
    const xmax = this.#latestEnded + 1;
    const below = this.running.filter((xid) => xid < xmax);
    return { xmin: Math.min(xmax, ...below), nextXid: this.#nextXid, lastSeq: this.#seq };
  }

  /** As `readDeliveries` reads what is fresh. */
  read({ after, fresh }: Wanted): Delivery[] {
    return [...this.#rows.values()]
      .filter(({ seq }) => seq > after)
      .toSorted((one, other) => one.seq - other.seq)
      .slice(0, fresh);
  }

  delete(id: DeliveryId): void {
    this.#rows.delete(id);
  }
}

function deliveryOf(seq: number, engagement: number): Delivery {
  return {
    id: `delivery ${seq}` as DeliveryId,
    destinationId: 'destination' as DestinationId,
    webhookId: 'webhook' as WebhookId,
    engagementId: `engagement ${engagement}`,
    eventId: `event ${seq}`,
    seq,
    type: 'engagement.chat.message',
    attempts: 0,
    parked: false,
    putOff: false,
    payload: '{}',
  };
}

class ModelDispatcher {
  readonly sent: Delivery[] = [];
  readonly #database: ModelDatabase;
  readonly #watermark = new Watermark();
  readonly #destination: Destination;
  #delivered: Delivery[] = [];

  constructor(database: ModelDatabase) {
    this.#database = database;
    const lease = {
      id: 'destination' as DestinationId,
      accountId: 'account' as AccountId,
      origin: '',
      epoch: 1,
      isUnresponsive: false,
    };
    this.#destination = new Destination(lease, {
      now: 0,
      terms: { leasedUntil: Infinity, session: null },
      onDirty: () => undefined,
    });
  }

  /** One read, at a time that never moves: no rescan by the clock hides what was passed over. */
  read(): void {
    this.#destination.soil();
    const wanted = this.#destination.wanted(0, this.#watermark.safe);
    if (wanted === null) return;
    const rows = this.#database.read(wanted);
    this.#watermark.note(this.#database.moment());
    this.#destination.receive(rows, wanted, this.#watermark.safe);
    this.#send();
  }

  #send(): void {
    for (let next = this.#destination.lanes.take(); next !== undefined; next = this.#destination.lanes.take()) {
      this.sent.push(next);
      this.#delivered.push(next);
      this.#destination.settle(next, 'pass');
    }
  }

  /** Outcomes are written some time after the answer. */
  writeOff(): void {
    for (const delivery of this.#delivered.splice(0, Math.ceil(this.#delivered.length / 2))) {
      this.#database.delete(delivery.id);
      this.#destination.writeOff(delivery);
    }
  }
}

const engagements = 3;
const which = fc.nat(20);
const step = fc.oneof(
  fc.record({ do: fc.constant('begin' as const), which: fc.nat(engagements - 1) }),
  fc.record({ do: fc.constant('write' as const), which }),
  fc.record({ do: fc.constant('commit' as const), which }),
  fc.record({ do: fc.constant('abort' as const), which }),
  fc.record({ do: fc.constant('read' as const), which }),
  fc.record({ do: fc.constant('read' as const), which }),
  fc.record({ do: fc.constant('write off' as const), which }),
);

test('D8.7: in whatever order transactions commit, events of one engagement are sent in order and none is passed over', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200, size: 'max' }), (steps) => {
      const database = new ModelDatabase();
      const dispatcher = new ModelDispatcher(database);
      for (const { do: what, which: number } of steps) {
        const xid = database.running[number % Math.max(1, database.running.length)] ?? 0;
        if (what === 'begin') database.begin(number);
        else if (what === 'write') database.write(xid);
        else if (what === 'commit' || what === 'abort') database.end(xid, what);
        else if (what === 'read') dispatcher.read();
        else dispatcher.writeOff();
      }
      for (const xid of database.running) database.end(xid, 'commit');
      // The second look sees what the first could not be sure of; nothing is written off, so nothing is read anew.
      for (let look = 0; look < 3; look += 1) dispatcher.read();
      for (const [engagement, sent] of Map.groupBy(dispatcher.sent, ({ engagementId }) => engagementId)) {
        const happened = database.committed.filter(({ engagementId }) => engagementId === engagement);
        assert.deepEqual(
          sent.map(({ seq }) => seq),
          happened.map(({ seq }) => seq),
        );
      }
      assert.equal(dispatcher.sent.length, database.committed.length);
    }),
    { numRuns: 1_000 },
  );
});
