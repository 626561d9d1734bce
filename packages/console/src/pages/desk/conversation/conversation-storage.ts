import type { Outgoing } from './conversation.ts';

/** What the desk stores of one conversation across page loads. */
export interface StoredConversation {
  readonly draft: string;
  readonly unsent: readonly Outgoing[];
  /** Uploaded files that the operator removed before sending. */
  readonly dismissedFiles: readonly string[];
  /** A pending transfer by this operator. */
  readonly transfer: { readonly kind: 'request' | 'ticket'; readonly id: string } | null;
}

export const nothingStored: StoredConversation = { draft: '', unsent: [], dismissedFiles: [], transfer: null };

const prefix = 'usher-desk';

type KeyValueStorage = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>;

/** Stored in the browser by operator, so that the next operator does not see it. Without storage the desk works, but forgets. */
export class ConversationStorage {
  readonly #storage: KeyValueStorage;
  readonly #prefix: string;

  constructor(storage: KeyValueStorage, operatorId: string) {
    this.#storage = storage;
    this.#prefix = `${prefix} ${operatorId}`;
  }

  read(id: string): StoredConversation {
    const read = this.#parse(`${this.#prefix} ${id}`) as Partial<StoredConversation> | null;
    return { ...nothingStored, ...read };
  }

  update(id: string, change: Partial<StoredConversation>): void {
    const stored = { ...this.read(id), ...change };
    const isEmpty =
      stored.draft === '' && stored.unsent.length + stored.dismissedFiles.length === 0 && stored.transfer === null;
    this.#write(`${this.#prefix} ${id}`, isEmpty ? null : stored);
  }

  /** Stores the unsent messages of this page in place of those in `before`; unsent messages of other pages are kept. */
  updateUnsent(id: string, before: readonly Outgoing[], now: readonly Outgoing[]): void {
    const own = new Set([...before, ...now].map((message) => message.id));
    const others = this.read(id).unsent.filter((message) => !own.has(message.id));
    this.update(id, { unsent: [...others, ...now.filter(({ state }) => state !== 'sent')] });
  }

  /** The conversations on the desk, including ended ones. */
  get onDesk(): readonly string[] {
    const ids = this.#parse(this.#prefix);
    return Array.isArray(ids) ? (ids as string[]) : [];
  }

  set onDesk(ids: readonly string[]) {
    this.#write(this.#prefix, ids);
  }

  #parse(key: string): unknown {
    try {
      return JSON.parse(this.#storage.getItem(key) ?? 'null');
    } catch {
      return null;
    }
  }

  #write(key: string, value: unknown): void {
    try {
      if (value === null) this.#storage.removeItem(key);
      else this.#storage.setItem(key, JSON.stringify(value));
    } catch {
      // Storage is full or forbidden: the page keeps its state in memory.
    }
  }
}
