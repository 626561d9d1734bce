import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { WebhookId } from '../../../events/subscriptions/attach-webhooks.ts';
import type { DestinationId } from '../../../events/subscriptions/destination.ts';
import type { AccountId } from '../../../platform/ids.ts';
import type { Delivery, DeliveryId } from '../delivery.ts';
import { Destination } from '../destination.ts';
import type { LaneName } from '../lanes.ts';
import { laneBatch, type DeliveryQuery } from '../store.ts';
import { Watermark, type Moment } from './watermark.ts';

/**
 * Tests the dispatcher's reader against a model of commit order. The model follows the documentation of PostgreSQL: transaction
 * ids and sequence numbers are assigned at once, commits happen in any order, and `xmax` of a snapshot is one past the highest
 * transaction that has *ended*. Events of an engagement are written under the lock of its row. `Watermark`, `Destination` and
 * `Lanes` are the real ones.
 */
interface Row {
  readonly delivery: Delivery;
  /** `delayed`: the delivery has failed, and its next attempt is not due yet. */
  readonly state: 'fresh' | 'delayed' | 'due';
}

class ModelDatabase {
  #nextXid = 1;
  #latestEnded = 0;
  #seq = 0;
  readonly #running = new Map<number, { readonly engagement: number; readonly written: Delivery[] }>();
  /** Committed deliveries that have no final outcome yet. */
  readonly #rows = new Map<DeliveryId, Row>();
  readonly committed: Delivery[] = [];

  get running(): readonly number[] {
    return [...this.#running.keys()];
  }

  /** `false`: another transaction has locked the engagement's row. */
  begin(engagement: number): boolean {
    for (const each of this.#running.values()) if (each.engagement === engagement) return false;
    this.#running.set(this.#nextXid, { engagement, written: [] });
    this.#nextXid += 1;
    return true;
  }

  write(xid: number, count: number): void {
    const transaction = this.#running.get(xid);
    if (transaction === undefined) return;
    for (let written = 0; written < count; written += 1) {
      this.#seq += 1;
      transaction.written.push(deliveryOf(this.#seq, transaction.engagement));
    }
  }

  end(xid: number, how: 'commit' | 'abort'): void {
    const transaction = this.#running.get(xid);
    if (transaction === undefined) return;
    this.#running.delete(xid);
    this.#latestEnded = Math.max(this.#latestEnded, xid);
    if (how === 'abort') return;
    for (const delivery of transaction.written) {
      this.#rows.set(delivery.id, { delivery, state: 'fresh' });
      this.committed.push(delivery);
    }
  }

  moment(): Moment {
    const xmax = this.#latestEnded + 1;
    const below = this.running.filter((xid) => xid < xmax);
    return { xmin: Math.min(xmax, ...below), nextXid: this.#nextXid, lastSeq: this.#seq };
  }

  /** As `readDeliveries` does. */
  read({ after, fresh, due, excluded }: DeliveryQuery): Delivery[] {
    const isWanted = ({ webhookId, engagementId }: Delivery): boolean =>
      !excluded.some((lane) => lane.webhookId === webhookId && lane.engagementId === engagementId);
    return [
      ...this.#inOrder('due').slice(0, due),
      ...this.#inOrder('fresh')
        .filter((delivery) => delivery.seq > after && isWanted(delivery))
        .slice(0, fresh),
    ];
  }

  readLane({ engagementId }: LaneName): Delivery[] {
    return this.#inOrder('fresh')
      .filter((delivery) => delivery.engagementId === engagementId)
      .slice(0, laneBatch);
  }

  blockedLanes(): Delivery[] {
    return [...this.#inOrder('delayed'), ...this.#inOrder('due')];
  }

  #inOrder(state: Row['state']): Delivery[] {
    return [...this.#rows.values()]
      .filter((row) => row.state === state)
      .map(({ delivery }) => delivery)
      .toSorted((one, other) => one.seq - other.seq);
  }

  delay(delivery: Delivery): void {
    const failed = { ...delivery, attempts: delivery.attempts + 1, isDelayed: true };
    this.#rows.set(delivery.id, { delivery: failed, state: 'delayed' });
  }

  makeDue(): void {
    for (const [id, { delivery, state }] of this.#rows)
      if (state === 'delayed') this.#rows.set(id, { delivery, state: 'due' });
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
    isDelayed: false,
    createdAt: new Date(0),
    siteId: null,
    payload: '{}',
  };
}

/** The maximum of requests in flight. */
const maxConcurrent = 4;

/**
 * A model of the dispatcher's loop. A statement and its result are separate steps, and receivers may answer in between. A delivery
 * counts as sent when the receiver accepts it. Time stands still, so that no rescan by time hides a skipped delivery.
 */
class ModelDispatcher {
  readonly sent: Delivery[] = [];
  readonly #database: ModelDatabase;
  readonly #watermark = new Watermark();
  readonly #destination: Destination;
  readonly #sending: Delivery[] = [];
  #outcomes: { readonly delivery: Delivery; readonly isTaken: boolean }[] = [];
  /** Called with the result of the running statement. */
  #answered: (() => void) | null = null;

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

  get isIdle(): boolean {
    return this.#sending.length === 0 && this.#outcomes.length === 0 && !this.#destination.isResuming;
  }

  finish(): void {
    const answered = this.#answered;
    this.#answered = null;
    answered?.();
    this.#pump();
  }

  read(): void {
    this.finish();
    this.#destination.markDirty();
    if (this.#destination.needsHeads) {
      this.#destination.startHeads();
      for (const { id, webhookId, engagementId } of this.#database.blockedLanes())
        if (!this.#destination.has(id)) this.#destination.lanes.block(webhookId, engagementId ?? '');
    }
    const query = this.#destination.takeQuery(0);
    if (query === null) return;
    const rows = this.#database.read(query);
    const moment = this.#database.moment();
    this.#answered = () => {
      this.#watermark.note(moment);
      this.#destination.receive(rows, query, this.#watermark.safe);
    };
  }

  /** A read for other destinations only: this one had no room, or was not dirty. */
  readForOthers(): void {
    this.finish();
    this.#watermark.note(this.#database.moment());
  }

  resume(): void {
    this.finish();
    const [lane, ...others] = this.#destination.takeResuming();
    this.#destination.putBackResuming(others);
    if (lane === undefined) return;
    const rows = this.#database.readLane(lane);
    this.#answered = () => this.#destination.resume(lane, rows, rows.length === laneBatch);
  }

  /** Writes the outcomes, some time after the answers of the receivers. */
  write(): void {
    this.finish();
    const outcomes = this.#outcomes.slice(0, Math.ceil(this.#outcomes.length / 2));
    for (const { delivery, isTaken } of outcomes)
      if (isTaken) this.#database.delete(delivery.id);
      else this.#database.delay(delivery);
    this.#answered = () => {
      this.#outcomes = this.#outcomes.slice(outcomes.length);
      for (const { delivery } of outcomes) this.#destination.release(delivery);
    };
  }

  /** A webhook was changed. */
  forget(): void {
    while (this.#outcomes.length > 0) {
      this.write();
      this.finish();
    }
    this.#destination.reload();
  }

  answer(which: number, isTaken: boolean): void {
    const [delivery] = this.#sending.splice(which % Math.max(1, this.#sending.length), 1);
    if (delivery === undefined) return;
    if (isTaken) this.sent.push(delivery);
    this.#outcomes.push({ delivery, isTaken });
    this.#destination.advanceLane(delivery, isTaken ? 'pass' : 'wait');
    this.#pump();
  }

  #pump(): void {
    while (this.#sending.length < maxConcurrent) {
      const next = this.#destination.lanes.take();
      if (next === undefined) return;
      this.#sending.push(next);
    }
  }
}

const engagements = 3;
const stepsOf = <Name extends string>(names: readonly Name[]): fc.Arbitrary<{ do: Name; which: number }> =>
  fc.oneof(...names.map((name) => fc.record({ do: fc.constant(name), which: fc.nat(20) })));

const commits = [
  'begin',
  'write',
  'commit',
  'abort',
  'read',
  'finish',
  'read for others',
  'take',
  'write outcomes',
] as const;
const faults = ['write many', 'resume', 'take', 'take', 'take', 'fail', 'become due', 'change'] as const;

interface Step {
  readonly do: (typeof commits)[number] | (typeof faults)[number];
  readonly which: number;
}

function apply(database: ModelDatabase, dispatcher: ModelDispatcher, { do: what, which: number }: Step): void {
  const xid = database.running[number % Math.max(1, database.running.length)] ?? 0;
  if (what === 'begin') database.begin(number % engagements);
  else if (what === 'write') database.write(xid, 1);
  else if (what === 'write many') database.write(xid, number * 30);
  else if (what === 'commit' || what === 'abort') database.end(xid, what);
  else if (what === 'read') dispatcher.read();
  else if (what === 'read for others') dispatcher.readForOthers();
  else if (what === 'resume') dispatcher.resume();
  else if (what === 'finish') dispatcher.finish();
  else if (what === 'take') dispatcher.answer(number, true);
  else if (what === 'fail') dispatcher.answer(number, false);
  else if (what === 'become due') database.makeDue();
  else if (what === 'change') dispatcher.forget();
  else dispatcher.write();
}

/** Commits everything, and makes the receivers accept all deliveries. */
function comeToRest(database: ModelDatabase, dispatcher: ModelDispatcher): void {
  for (const xid of database.running) database.end(xid, 'commit');
  let quiet = 0;
  for (let round = 0; quiet < 3; round += 1) {
    assert.ok(round < 100_000, 'it comes to rest');
    const before = dispatcher.sent.length;
    database.makeDue();
    dispatcher.read();
    dispatcher.finish();
    for (let number = 0; number < maxConcurrent; number += 1) dispatcher.answer(number, true);
    dispatcher.write();
    dispatcher.resume();
    dispatcher.finish();
    quiet = dispatcher.isIdle && dispatcher.sent.length === before ? quiet + 1 : 0;
  }
}

function check(steps: readonly Step[]): void {
  const database = new ModelDatabase();
  const dispatcher = new ModelDispatcher(database);
  for (const step of steps) apply(database, dispatcher, step);
  comeToRest(database, dispatcher);
  for (const [engagement, sent] of Map.groupBy(dispatcher.sent, ({ engagementId }) => engagementId)) {
    const happened = database.committed.filter(({ engagementId }) => engagementId === engagement);
    assert.deepEqual(
      sent.map(({ seq }) => seq),
      happened.map(({ seq }) => seq),
    );
  }
  assert.equal(dispatcher.sent.length, database.committed.length);
}

test('D8.7: events of an engagement are sent in order and none is skipped, in whatever order transactions commit', () => {
  fc.assert(fc.property(fc.array(stepsOf(commits), { maxLength: 200, size: 'max' }), check), { numRuns: 1_000 });
});

test('D8.7: the order holds when deliveries fail, webhooks change and more deliveries wait than fit into memory', () => {
  const all = stepsOf([...commits, ...faults]);
  const numRuns = process.env['PROVE'] === undefined ? 300 : 20_000;
  fc.assert(fc.property(fc.array(all, { maxLength: 200, size: 'max' }), check), { numRuns });
});
