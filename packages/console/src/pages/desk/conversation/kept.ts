import type { Outgoing } from './conversation.ts';

/** What the desk must not lose when the page is closed, of one conversation. */
export interface Kept {
  readonly draft: string;
  readonly unsent: readonly Outgoing[];
  /** Files that were taken and are not to be sent after all. */
  readonly dismissedFiles: readonly string[];
  /** A transfer of ours that is under way. */
  readonly transfer: { readonly kind: 'request' | 'ticket'; readonly id: string } | null;
}

export const nothingKept: Kept = { draft: '', unsent: [], dismissedFiles: [], transfer: null };

const prefix = 'usher-desk';

type Shelf = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>;

/** In the browser, by operator: whoever signs in next does not find it. A browser that keeps nothing is worked with as it is. */
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

  /** Messages of this page that are not sent, where it had those of `before`; what another page has not sent stays kept. */
  keepUnsent(id: string, before: readonly Outgoing[], now: readonly Outgoing[]): void {
    const own = new Set([...before, ...now].map((message) => message.id));
    const others = this.of(id).unsent.filter((message) => !own.has(message.id));
    this.keep(id, { unsent: [...others, ...now.filter(({ state }) => state !== 'sent')] });
  }

  /** Conversations on the desk, those that are over too. */
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
      // It is full, or forbidden: what is on the page is still there.
    }
  }
}
