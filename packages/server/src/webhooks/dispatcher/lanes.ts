import type { Delivery } from './delivery.ts';

/** Of deliveries that one webhook hears of one engagement: one at a time, in the order they happened (D8.7). */
interface Lane {
  /** One of it is ready or being sent. */
  busy: boolean;
  /** One of it has failed and is put off: nothing of it is sent until that one comes back. */
  blocked: boolean;
  /** What follows, oldest first. */
  waiting: Delivery[];
  /** Others that follow were let go, for want of room: they have to be read again, and what comes after them too. */
  letGo: boolean;
}

export interface LaneName {
  readonly webhookId: string;
  readonly engagementId: string;
}

/** So many that wait behind one that was put off are kept in memory; more are let go, and read again in their time. */
const usuallyMostBlocked = 500;

/** Whatever keeps the order of deliveries is here; it knows nothing of sending, of time or of the database. */
export class Lanes {
  readonly #lanes = new Map<string, Lane>();
  /** What may be sent, oldest first; `#next` is where it begins, as taking from the front of a long array is dear. */
  #ready: Delivery[] = [];
  #next = 0;
  #blocked = 0;
  #blockedWaiting = 0;
  readonly #mostBlocked: number;

  constructor(mostBlocked = usuallyMostBlocked) {
    this.#mostBlocked = mostBlocked;
  }

  get readyCount(): number {
    return this.#ready.length - this.#next;
  }

  /** Lanes that wait for one that was put off. */
  get blockedCount(): number {
    return this.#blocked;
  }

  knows(webhookId: string): boolean {
    for (const key of this.#lanes.keys()) if (key.startsWith(webhookId)) return true;
    return false;
  }

  /** Those that wait for one that was put off. Nothing more of them is taken: it is read when they go on. */
  leaveOut(): readonly LaneName[] {
    const names: LaneName[] = [];
    for (const [key, lane] of this.#lanes) {
      if (!lane.blocked) continue;
      lane.letGo = true;
      const [webhookId = '', engagementId = ''] = key.split(' ');
      names.push({ webhookId, engagementId });
    }
    return names;
  }

  /** One of that lane was put off, in another's time. */
  block(webhookId: string, engagementId: string): void {
    const lane = this.#laneOf(`${webhookId} ${engagementId}`);
    if (!lane.blocked) this.#block(lane);
  }

  /** `false`: there was no room for it, and it has to be read again. */
  add(delivery: Delivery): boolean {
    const key = keyOf(delivery);
    if (key === null) {
      this.#ready.push(delivery);
      return true;
    }
    const lane = this.#laneOf(key);
    if (lane.blocked && !lane.busy && isHead(delivery)) this.#unblock(lane);
    else if (lane.blocked || lane.busy || lane.letGo) return this.#queue(lane, delivery);
    lane.busy = true;
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

  /** It could not be tried after all: it is the next again. */
  putBack(delivery: Delivery): void {
    this.#ready = [delivery, ...this.#ready.slice(this.#next)];
    this.#next = 0;
  }

  /** It is done with, or put off on its own: the next of its lane is ready. `true`: what follows has to be read first. */
  pass(delivery: Delivery): boolean {
    const key = keyOf(delivery);
    const lane = key === null ? undefined : this.#lanes.get(key);
    if (key === null || lane === undefined) return false;
    if (lane.blocked) {
      // It was blocked while this was under way: it may be this that the others wait for.
      lane.busy = false;
      if (!isHead(delivery)) return false;
      this.#unblock(lane);
      lane.busy = true;
    }
    const next = lane.waiting.shift();
    if (next !== undefined) this.#ready.push(next);
    else if (lane.letGo) lane.busy = false;
    else this.#lanes.delete(key);
    return next === undefined && lane.letGo;
  }

  /**
   * What was let go of a lane has been read, from its beginning: it goes on with it. With `more`, there is still some that
   * has to be read when these are done with, or at once if these are none. `false`: it has gone on otherwise meanwhile.
   */
  resume({ webhookId, engagementId }: LaneName, deliveries: readonly Delivery[], more: boolean): boolean {
    const key = `${webhookId} ${engagementId}`;
    const lane = this.#lanes.get(key);
    if (lane === undefined || lane.busy || lane.blocked) return false;
    const [first, ...rest] = deliveries;
    lane.letGo = more;
    if (first !== undefined) {
      lane.busy = true;
      lane.waiting = rest;
      this.#ready.push(first);
    } else if (!more) this.#lanes.delete(key);
    return true;
  }

  /** It has failed and is put off, and what follows waits for it. */
  wait(delivery: Delivery): readonly Delivery[] {
    const key = keyOf(delivery);
    const lane = key === null ? undefined : this.#lanes.get(key);
    if (lane === undefined) return [];
    lane.busy = false;
    if (!lane.blocked) this.#block(lane);
    return this.#blockedWaiting > this.#mostBlocked ? this.#letGo(lane) : [];
  }

  /** Everything that is not being sent. What is being sent keeps its lane. */
  clear(): readonly Delivery[] {
    const cleared = this.#ready.slice(this.#next);
    for (const delivery of cleared) {
      const lane = this.#lanes.get(keyOf(delivery) ?? '');
      if (lane !== undefined) lane.busy = false;
    }
    for (const [key, lane] of this.#lanes) {
      cleared.push(...lane.waiting);
      lane.waiting = [];
      lane.blocked = false;
      lane.letGo = lane.busy;
      if (!lane.busy) this.#lanes.delete(key);
    }
    this.#ready = [];
    this.#next = 0;
    this.#blocked = 0;
    this.#blockedWaiting = 0;
    return cleared;
  }

  #laneOf(key: string): Lane {
    const known = this.#lanes.get(key);
    if (known !== undefined) return known;
    const lane = { busy: false, blocked: false, waiting: [], letGo: false };
    this.#lanes.set(key, lane);
    return lane;
  }

  #block(lane: Lane): void {
    lane.blocked = true;
    this.#blocked += 1;
    this.#blockedWaiting += lane.waiting.length;
  }

  #unblock(lane: Lane): void {
    lane.blocked = false;
    this.#blocked -= 1;
    this.#blockedWaiting -= lane.waiting.length;
  }

  #queue(lane: Lane, delivery: Delivery): boolean {
    if (lane.letGo || (lane.blocked && this.#blockedWaiting >= this.#mostBlocked)) {
      lane.letGo = true;
      return false;
    }
    lane.waiting.push(delivery);
    if (lane.blocked) this.#blockedWaiting += 1;
    return true;
  }

  #letGo(lane: Lane): readonly Delivery[] {
    const { waiting } = lane;
    this.#blockedWaiting -= waiting.length;
    lane.waiting = [];
    lane.letGo = true;
    return waiting;
  }
}

function keyOf({ webhookId, engagementId, parked }: Delivery): string | null {
  return engagementId === null || parked ? null : `${webhookId} ${engagementId}`;
}

/** The one that the others of its lane wait for. */
function isHead({ attempts, putOff }: Delivery): boolean {
  return putOff && attempts > 0;
}
