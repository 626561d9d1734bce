/** Kinds of deadlines. At the same instant they are handled in this order. */
export const deadlineKinds = [
  'hours',
  'operator_lease',
  'visitor_lease',
  'operator_grace',
  'visitor_grace',
  'offer',
  'ticket',
  'refusal',
  'affinity',
] as const;
export type DeadlineKind = (typeof deadlineKinds)[number];

/** A deadline belongs to one object and is set, moved and cleared with it. */
export class Deadline {
  readonly kind: DeadlineKind;
  /** The id of the object that the deadline belongs to. */
  readonly id: string;
  /** Milliseconds since 1970. */
  at = Infinity;
  /** The index in the heap; -1 while the deadline is not set. */
  index = -1;

  constructor(kind: DeadlineKind, id: string) {
    this.kind = kind;
    this.id = id;
  }
}

export function newDeadline(kind: DeadlineKind, id: string): Deadline {
  return new Deadline(kind, id);
}

/** Finds the next deadline in O(log n): a binary heap whose entries know their index, so that they can be moved. */
export class Deadlines {
  readonly #heap: Deadline[] = [];

  /** The next deadline; `undefined` if none is set. */
  get next(): Deadline | undefined {
    return this.#heap[0];
  }

  /** Sets or moves the deadline; `Infinity` or `null` clears it. */
  set(deadline: Deadline, at: number | null): void {
    if (at === null || at === Infinity) return this.clear(deadline);
    if (deadline.index === -1) {
      deadline.at = at;
      deadline.index = this.#heap.push(deadline) - 1;
      this.#up(deadline);
      return undefined;
    }
    deadline.at = at;
    this.#up(deadline);
    this.#down(deadline);
    return undefined;
  }

  /** Clears the deadline. `null` is accepted, because some deadlines are created on demand. */
  clear(deadline: Deadline | null): void {
    if (deadline === null) return;
    const { index } = deadline;
    if (index === -1) return;
    deadline.index = -1;
    deadline.at = Infinity;
    const last = this.#heap.pop();
    if (last === undefined || last === deadline) return;
    this.#place(last, index);
    this.#up(last);
    this.#down(last);
  }

  #place(deadline: Deadline, index: number): void {
    this.#heap[index] = deadline;
    deadline.index = index;
  }

  #up(deadline: Deadline): void {
    let { index } = deadline;
    while (index > 0) {
      const above = (index - 1) >> 1;
      const parent = this.#heap[above];
      if (parent === undefined || before(parent, deadline)) break;
      this.#place(parent, index);
      index = above;
    }
    this.#place(deadline, index);
  }

  #down(deadline: Deadline): void {
    let { index } = deadline;
    for (;;) {
      const below = this.#earlierChild(index);
      if (below === undefined || before(deadline, below)) break;
      const { index: next } = below;
      this.#place(below, index);
      index = next;
    }
    this.#place(deadline, index);
  }

  #earlierChild(index: number): Deadline | undefined {
    const left = this.#heap[2 * index + 1];
    const right = this.#heap[2 * index + 2];
    if (left === undefined || right === undefined) return left;
    return before(right, left) ? right : left;
  }
}

function before(a: Deadline, b: Deadline): boolean {
  if (a.at !== b.at) return a.at < b.at;
  if (a.kind !== b.kind) return deadlineKinds.indexOf(a.kind) < deadlineKinds.indexOf(b.kind);
  return a.id < b.id;
}
