import type { Delivery } from './delivery.ts';

/**
 * A lane holds the deliveries of one engagement to one webhook: they are sent one at a time, in the order of the log (D8.7).
 *
 *   none             there is no lane in memory
 *   sending          one delivery is ready or being sent
 *   blocked          one delivery, the head, has failed and is delayed; nothing is sent until the head is due again
 *   blocked_sending  one delivery is ready or being sent, and the database names a head. Both may be the same delivery
 *   unread           nothing is sent: the next deliveries are only in the database, and are read for `resume`
 *
 *                    add          add the head  pass (sent)                wait (failed)  block            resume
 *   none             sending      sending       –                          –              blocked          –
 *   sending          same         same          sending, unread or none    blocked        blocked_sending  –
 *   blocked          same         sending       –                          –              same             –
 *   blocked_sending  same         same          the head: as from sending  blocked        same             –
 *                                               another: blocked
 *   unread           refused      refused       –                          –              blocked          sending, unread or none
 *
 * `clear` keeps only lanes with a delivery being sent; they are `sending`, and their next deliveries are unread.
 */
type Lane = KeptLane | { readonly state: 'unread' };

/** Mutable, because lanes change with every delivery. */
interface KeptLane {
  state: 'sending' | 'blocked' | 'blocked_sending';
  /** The next deliveries, oldest first. */
  waiting: Delivery[];
  /** More deliveries follow after `waiting`, only in the database, to save memory. New ones are refused until these have been read. */
  hasUnread: boolean;
}

const unread: Lane = { state: 'unread' };

export interface LaneName {
  readonly webhookId: string;
  readonly engagementId: string;
}

/** Limit of deliveries in memory behind heads. More are dropped, and read again when their lanes continue. */
const defaultMaxBlocked = 500;

/** Keeps the order of deliveries. Independent of sending, time and the database. */
export class Lanes {
  readonly #lanes = new Map<string, Lane>();
  /** Deliveries that may be sent, oldest first, from index `#next` on, because `shift` on a long array is slow. */
  #ready: Delivery[] = [];
  #next = 0;
  /** Lanes with a head, and deliveries that wait in them. */
  #blocked = 0;
  #blockedWaiting = 0;
  readonly #maxBlocked: number;

  constructor(maxBlocked = defaultMaxBlocked) {
    this.#maxBlocked = maxBlocked;
  }

  get readyCount(): number {
    return this.#ready.length - this.#next;
  }

  /** Lanes that wait for a delayed delivery. */
  get blockedCount(): number {
    return this.#blocked;
  }

  hasWebhook(webhookId: string): boolean {
    for (const key of this.#lanes.keys()) if (key.startsWith(webhookId)) return true;
    return false;
  }

  /** Lanes that wait for a delayed delivery. No more of their deliveries are added until they continue. */
  excludeBlocked(): readonly LaneName[] {
    const names: LaneName[] = [];
    for (const [key, lane] of this.#lanes) {
      if (lane.state !== 'blocked' && lane.state !== 'blocked_sending') continue;
      lane.hasUnread = true;
      const [webhookId = '', engagementId = ''] = key.split(' ');
      names.push({ webhookId, engagementId });
    }
    return names;
  }

  /** The database has a head for this lane, from before we leased or reloaded the destination. */
  block(webhookId: string, engagementId: string): void {
    const key = `${webhookId} ${engagementId}`;
    const lane = this.#lanes.get(key);
    if (lane === undefined || lane.state === 'unread') {
      this.#lanes.set(key, { state: 'blocked', waiting: [], hasUnread: lane !== undefined });
      this.#blocked += 1;
    } else if (lane.state === 'sending') this.#block(lane, 'blocked_sending');
  }

  /** `false`: there is no room for the delivery; it must be read again. */
  add(delivery: Delivery): boolean {
    const key = keyOf(delivery);
    if (key !== null) {
      const lane = this.#lanes.get(key);
      if (lane === undefined) this.#lanes.set(key, { state: 'sending', waiting: [], hasUnread: false });
      else if (lane.state === 'blocked' && isHead(delivery)) this.#unblock(lane);
      else return lane.state !== 'unread' && this.#queue(lane, delivery);
    }
    this.#ready.push(delivery);
    return true;
  }

  /** The next delivery that may be sent, if any. */
  take(): Delivery | undefined {
    const delivery = this.#ready[this.#next];
    if (delivery === undefined) return undefined;
    this.#next += 1;
    if (this.#next >= 64 && this.#next * 2 >= this.#ready.length) {
      this.#ready = this.#ready.slice(this.#next);
      this.#next = 0;
    }
    return delivery;
  }

  /** The delivery could not be sent: it is the next one again. */
  putBack(delivery: Delivery): void {
    this.#ready = [delivery, ...this.#ready.slice(this.#next)];
    this.#next = 0;
  }

  /** The delivery is done or parked: the next of its lane is ready. `true`: the next deliveries must be read first. */
  pass(delivery: Delivery): boolean {
    const key = keyOf(delivery);
    if (key === null) return false;
    const lane = this.#laneOfSent(key);
    if (lane.state === 'blocked_sending') {
      if (!isHead(delivery)) {
        lane.state = 'blocked';
        return false;
      }
      this.#unblock(lane);
    }
    const next = lane.waiting.shift();
    if (next !== undefined) this.#ready.push(next);
    else if (lane.hasUnread) this.#lanes.set(key, unread);
    else this.#lanes.delete(key);
    return next === undefined && lane.hasUnread;
  }

  /**
   * Continues an unread lane with the deliveries read from its beginning. With `more`, the rest must be read when these are done,
   * or at once if there are none. `false`: the lane is no longer unread.
   */
  resume({ webhookId, engagementId }: LaneName, deliveries: readonly Delivery[], more: boolean): boolean {
    const key = `${webhookId} ${engagementId}`;
    if (this.#lanes.get(key)?.state !== 'unread') return false;
    const [first, ...waiting] = deliveries;
    if (first !== undefined) {
      this.#lanes.set(key, { state: 'sending', waiting, hasUnread: more });
      this.#ready.push(first);
    } else if (!more) this.#lanes.delete(key);
    return true;
  }

  /** The delivery has failed and is delayed; the next ones wait for it. Returns deliveries that were dropped to save memory. */
  wait(delivery: Delivery): readonly Delivery[] {
    const key = keyOf(delivery);
    if (key === null) return [];
    const lane = this.#laneOfSent(key);
    if (lane.state === 'sending') this.#block(lane, 'blocked');
    else lane.state = 'blocked';
    return this.#blockedWaiting > this.#maxBlocked ? this.#evict(lane) : [];
  }

  /** Drops and returns everything that is not being sent. Deliveries being sent keep their lanes. */
  clear(): readonly Delivery[] {
    const cleared = this.#ready.slice(this.#next);
    const ready = new Set(cleared.map(keyOf));
    for (const [key, lane] of this.#lanes) {
      if (lane.state !== 'unread') cleared.push(...lane.waiting);
      const isSent = (lane.state === 'sending' || lane.state === 'blocked_sending') && !ready.has(key);
      if (isSent) this.#lanes.set(key, { state: 'sending', waiting: [], hasUnread: true });
      else this.#lanes.delete(key);
    }
    this.#ready = [];
    this.#next = 0;
    this.#blocked = 0;
    this.#blockedWaiting = 0;
    return cleared;
  }

  #laneOfSent(key: string): KeptLane {
    const lane = this.#lanes.get(key);
    if (lane?.state === 'sending' || lane?.state === 'blocked_sending') return lane;
    throw new Error(`the lane ${key} has no delivery being sent: it is ${lane?.state ?? 'unknown'}`);
  }

  #block(lane: KeptLane, state: 'blocked' | 'blocked_sending'): void {
    lane.state = state;
    this.#blocked += 1;
    this.#blockedWaiting += lane.waiting.length;
  }

  #unblock(lane: KeptLane): void {
    lane.state = 'sending';
    this.#blocked -= 1;
    this.#blockedWaiting -= lane.waiting.length;
  }

  #queue(lane: KeptLane, delivery: Delivery): boolean {
    const isBlocked = lane.state !== 'sending';
    if (isBlocked && this.#blockedWaiting >= this.#maxBlocked) lane.hasUnread = true;
    if (lane.hasUnread) return false;
    lane.waiting.push(delivery);
    if (isBlocked) this.#blockedWaiting += 1;
    return true;
  }

  #evict(lane: KeptLane): readonly Delivery[] {
    const { waiting } = lane;
    this.#blockedWaiting -= waiting.length;
    lane.waiting = [];
    lane.hasUnread = true;
    return waiting;
  }
}

function keyOf({ webhookId, engagementId, parked }: Delivery): string | null {
  return engagementId === null || parked ? null : `${webhookId} ${engagementId}`;
}

/** Whether other deliveries of its lane wait for this one. */
function isHead({ attempts, isDelayed }: Delivery): boolean {
  return isDelayed && attempts > 0;
}
