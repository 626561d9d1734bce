import type { Delivery } from './delivery.ts';

/**
 * A lane holds the deliveries of one engagement to one webhook: they are sent one at a time, in the order of the log (D8.7).
 *
 *   none             no lane is kept: nothing of it is known
 *   sending          one delivery is ready or being sent
 *   blocked          one delivery, the head, has failed and is delayed; nothing is sent until the head is due again
 *   blocked_sending  one delivery is ready or being sent, and the database names a head. Both may be the same delivery
 *   unread           nothing is sent: what follows is in the database alone, and is read for `resume`
 *
 *                    add          add the head  pass (sent)                wait (failed)  block            resume
 *   none             sending      sending       –                          –              blocked          –
 *   sending          same         same          sending, unread or none    blocked        blocked_sending  –
 *   blocked          same         sending       –                          –              same             –
 *   blocked_sending  same         same          the head: as from sending  blocked        same             –
 *                                               another: blocked
 *   unread           refused      refused       –                          –              blocked          sending, unread or none
 *
 * `clear` leaves only lanes of which a delivery is being sent; they are `sending`, and what follows is unread.
 */
type Lane = KeptLane | { readonly state: 'unread' };

/** Changed in place: lanes change with every delivery. */
interface KeptLane {
  state: 'sending' | 'blocked' | 'blocked_sending';
  /** What follows, oldest first. */
  waiting: Delivery[];
  /** More follows than `waiting`, for want of memory, in whichever state. New deliveries are refused until it has been read. */
  hasUnread: boolean;
}

const unread: Lane = { state: 'unread' };

export interface LaneName {
  readonly webhookId: string;
  readonly engagementId: string;
}

/** Deliveries kept in memory behind heads. More are let go, and read again once their lanes go on. */
const usuallyMostBlocked = 500;

/** Keeps the order of deliveries. Knows nothing of sending, of time or of the database. */
export class Lanes {
  readonly #lanes = new Map<string, Lane>();
  /** What may be sent, oldest first, from `#next` on: removing the first element of a long array is slow. */
  #ready: Delivery[] = [];
  #next = 0;
  /** Lanes with a head, and deliveries that wait in them. */
  #blocked = 0;
  #blockedWaiting = 0;
  readonly #mostBlocked: number;

  constructor(mostBlocked = usuallyMostBlocked) {
    this.#mostBlocked = mostBlocked;
  }

  get readyCount(): number {
    return this.#ready.length - this.#next;
  }

  /** Lanes that wait for a delayed delivery. */
  get blockedCount(): number {
    return this.#blocked;
  }

  knows(webhookId: string): boolean {
    for (const key of this.#lanes.keys()) if (key.startsWith(webhookId)) return true;
    return false;
  }

  /** Lanes that wait for a delayed delivery. Nothing more of them is taken: it is read when they go on. */
  leaveOut(): readonly LaneName[] {
    const names: LaneName[] = [];
    for (const [key, lane] of this.#lanes) {
      if (lane.state !== 'blocked' && lane.state !== 'blocked_sending') continue;
      lane.hasUnread = true;
      const [webhookId = '', engagementId = ''] = key.split(' ');
      names.push({ webhookId, engagementId });
    }
    return names;
  }

  /** The database has a head for this lane, delayed before we took over the destination or read it anew. */
  block(webhookId: string, engagementId: string): void {
    const key = `${webhookId} ${engagementId}`;
    const lane = this.#lanes.get(key);
    if (lane === undefined || lane.state === 'unread') {
      this.#lanes.set(key, { state: 'blocked', waiting: [], hasUnread: lane !== undefined });
      this.#blocked += 1;
    } else if (lane.state === 'sending') this.#block(lane, 'blocked_sending');
  }

  /** `false`: there is no room for the delivery, and it has to be read again. */
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

  /** The next that may be sent, if any. */
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

  /** The delivery could not be tried: it is the next again. */
  putBack(delivery: Delivery): void {
    this.#ready = [delivery, ...this.#ready.slice(this.#next)];
    this.#next = 0;
  }

  /** The delivery is done, or delayed on its own: the next of its lane is ready. `true`: what follows has to be read first. */
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
   * Goes on with what was read of an unread lane, from its beginning. With `more`, the rest has to be read when these are done,
   * or at once if these are none. `false`: the lane is no longer unread.
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

  /** The delivery has failed and is delayed, and what follows waits for it. Answers what was let go for want of room. */
  wait(delivery: Delivery): readonly Delivery[] {
    const key = keyOf(delivery);
    if (key === null) return [];
    const lane = this.#laneOfSent(key);
    if (lane.state === 'sending') this.#block(lane, 'blocked');
    else lane.state = 'blocked';
    return this.#blockedWaiting > this.#mostBlocked ? this.#letGo(lane) : [];
  }

  /** Lets go of everything that is not being sent, and answers it. What is being sent keeps its lane. */
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
    throw new Error(`nothing of the lane ${key} was being sent: it is ${lane?.state ?? 'not kept'}`);
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
    if (isBlocked && this.#blockedWaiting >= this.#mostBlocked) lane.hasUnread = true;
    if (lane.hasUnread) return false;
    lane.waiting.push(delivery);
    if (isBlocked) this.#blockedWaiting += 1;
    return true;
  }

  #letGo(lane: KeptLane): readonly Delivery[] {
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
function isHead({ attempts, putOff }: Delivery): boolean {
  return putOff && attempts > 0;
}
