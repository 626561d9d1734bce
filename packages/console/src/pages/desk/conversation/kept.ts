import type { Outgoing } from './conversation.ts';

/** What the desk stores of one conversation across page loads. */
export interface Kept {
  readonly draft: string;
  readonly unsent: readonly Outgoing[];
  /** Uploaded files that the operator removed before sending. */
  readonly dismissedFiles: readonly string[];
  /** A pending transfer by this operator. */
  readonly transfer: { readonly kind: 'request' | 'ticket'; readonly id: string } | null;
}

export const nothingKept: Kept = { draft: '', unsent: [], dismissedFiles: [], transfer: null };

const prefix = 'usher-desk';

type Shelf = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>;

/** Stored in the browser by operator, so that the next operator does not see it. Without storage the desk works, but forgets. */
export class Keeper {
  readonly #shelf: Shelf;
  readonly #own: string;

  constructor(shelf: Shelf, operatorId: string) {
    this.#shelf = shelf;
    this.#own = `${prefix} ${operatorId}`;
  }

  of(id: string): Kept {
    const read = this.#read(`${this.#own} ${id}`) as Partial<Kept> | null;
    return { ...nothingKept, ...read };
  }

  keep(id: string, change: Partial<Kept>): void {
    const kept = { ...this.of(id), ...change };
    const isNothing =
      kept.draft === '' && kept.unsent.length + kept.dismissedFiles.length === 0 && kept.transfer === null;
    this.#write(`${this.#own} ${id}`, isNothing ? null : kept);
  }

  /** Stores the unsent messages of this page in place of those in `before`; unsent messages of other pages are kept. */
  keepUnsent(id: string, before: readonly Outgoing[], now: readonly Outgoing[]): void {
    const own = new Set([...before, ...now].map((message) => message.id));
    const others = this.of(id).unsent.filter((message) => !own.has(message.id));
    this.keep(id, { unsent: [...others, ...now.filter(({ state }) => state !== 'sent')] });
  }

  /** The conversations on the desk, including ended ones. */
  get onDesk(): readonly string[] {
    const ids = this.#read(this.#own);
    return Array.isArray(ids) ? (ids as string[]) : [];
  }

  set onDesk(ids: readonly string[]) {
    this.#write(this.#own, ids);
  }

  #read(key: string): unknown {
    try {
      return JSON.parse(this.#shelf.getItem(key) ?? 'null');
    } catch {
      return null;
    }
  }

  #write(key: string, value: unknown): void {
    try {
      if (value === null) this.#shelf.removeItem(key);
      else this.#shelf.setItem(key, JSON.stringify(value));
    } catch {
      // Storage is full or forbidden: the page keeps its state in memory.
    }
  }
}
