import { ProblemError } from '@usher/client/problem';
import { newId } from '@usher/client/new-id';
import { reasonOf } from './reasons.ts';
import type { Storage } from './storage.ts';
import { words } from './words.ts';

/** A message that the server has not acknowledged. It is kept in the browser under an id of its own, so that it may be sent again. */
export interface Unsent {
  readonly id: string;
  readonly engagementId: string;
  /** As `Date.now()`. */
  readonly at: number;
  readonly content: string;
  /** The value of an option that was chosen. */
  readonly chosen?: string;
  readonly file?: UnsentFile;
  /** Why it was refused: it will not be sent again by itself. */
  readonly refused?: string;
}

/** On its way, being scanned, or ready to go with the message. */
export interface UnsentFile {
  readonly name: string;
  readonly bytes: number;
  readonly state: 'uploading' | 'pending' | 'clean' | 'infected';
  /** Once it has arrived. */
  readonly id?: string;
}

export interface Content {
  readonly content: string;
  readonly attachment?:
    | { readonly type: 'single_choice_response'; readonly selected_option: string }
    | { readonly type: 'files'; readonly files: readonly { readonly id: string }[] };
}

function isUnsent(value: unknown): value is Unsent {
  const { id, engagementId, content } = (value ?? {}) as Partial<Record<keyof Unsent, unknown>>;
  return typeof id === 'string' && typeof engagementId === 'string' && typeof content === 'string';
}

interface Parts {
  readonly storage: Storage;
  readonly changed: (unsent: readonly Unsent[]) => void;
  /** Sends it, and resolves when it has been taken. */
  readonly put: (unsent: Unsent, content: Content) => Promise<void>;
}

/** After a failure that may pass. */
const againMs = 2_000;

/**
 * Messages go out one after the other, in the order they were written; each is tried until it is taken or refused. Under its
 * id it is the same message however often it comes, so that a reload, another tab or a lost answer doubles nothing.
 */
export class Outbox {
  readonly #parts: Parts;
  #unsent: readonly Unsent[] = [];
  #isSending = false;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** What an earlier page left behind; a file that had not arrived is gone with that page. */
  restore(engagementId: string): void {
    const { storage } = this.#parts;
    const kept = storage.names('unsent.').flatMap((name) => storage.get(name, isUnsent) ?? []);
    const ours = kept.filter((each) => each.engagementId === engagementId);
    for (const each of kept) if (!ours.includes(each)) storage.remove(`unsent.${each.id}`);
    const known = new Set(this.#unsent.map(({ id }) => id));
    const more = ours.filter(({ id }) => !known.has(id)).toSorted((one, other) => one.at - other.at);
    this.#show([...more, ...this.#unsent.filter((each) => each.engagementId === engagementId)]);
    this.flush();
  }

  add(engagementId: string, given: Pick<Unsent, 'content' | 'chosen' | 'file'>): Unsent {
    const unsent: Unsent = { id: newId(), engagementId, at: Date.now(), ...given };
    this.#keep(unsent);
    this.#show([...this.#unsent, unsent]);
    this.flush();
    return unsent;
  }

  /** A file has come further, or was refused. */
  changeFile(id: string, changes: Partial<UnsentFile>, refused?: string): void {
    const unsent = this.#unsent.find((each) => each.id === id);
    if (unsent?.file === undefined) return;
    this.#replace({ ...unsent, file: { ...unsent.file, ...changes }, ...(refused === undefined ? {} : { refused }) });
    this.flush();
  }

  /** What scans have shown of files that were sent from here. */
  scanned(fileId: string, state: 'pending' | 'clean' | 'infected'): void {
    const unsent = this.#unsent.find(({ file }) => file?.id === fileId);
    if (unsent === undefined || state === 'pending') return;
    const refused = state === 'infected' ? words.virus : undefined;
    this.changeFile(unsent.id, { state }, refused);
  }

  /** The server has it. */
  remove(id: string): void {
    if (!this.#unsent.some((each) => each.id === id)) return;
    this.#parts.storage.remove(`unsent.${id}`);
    this.#show(this.#unsent.filter((each) => each.id !== id));
  }

  clear(): void {
    clearTimeout(this.#timer);
    for (const { id } of this.#unsent) this.#parts.storage.remove(`unsent.${id}`);
    this.#show([]);
  }

  /** Sends what can be sent. */
  flush(): void {
    clearTimeout(this.#timer);
    if (!this.#isSending) void this.#send();
  }

  async #send(): Promise<void> {
    this.#isSending = true;
    for (let next = this.#next(); next !== null; next = this.#next()) {
      const { unsent, content } = next;
      try {
        await this.#parts.put(unsent, content);
        this.remove(unsent.id);
      } catch (error) {
        if (!isFinal(error)) {
          this.#timer = setTimeout(() => this.flush(), againMs);
          break;
        }
        this.#replace({ ...unsent, refused: reasonOf(error) });
      }
    }
    this.#isSending = false;
  }

  #next(): { readonly unsent: Unsent; readonly content: Content } | null {
    for (const unsent of this.#unsent) {
      const content = unsent.refused === undefined ? contentOf(unsent) : null;
      if (content !== null) return { unsent, content };
    }
    return null;
  }

  #replace(unsent: Unsent): void {
    if (!this.#unsent.some(({ id }) => id === unsent.id)) return;
    if (unsent.refused === undefined) this.#keep(unsent);
    else this.#parts.storage.remove(`unsent.${unsent.id}`);
    this.#show(this.#unsent.map((each) => (each.id === unsent.id ? unsent : each)));
  }

  #keep(unsent: Unsent): void {
    if (unsent.file?.state !== 'uploading') this.#parts.storage.set(`unsent.${unsent.id}`, unsent);
  }

  #show(unsent: readonly Unsent[]): void {
    this.#unsent = unsent;
    this.#parts.changed(unsent);
  }
}

/** As it is to be sent; `null`: not yet. */
function contentOf({ content, chosen, file }: Unsent): Content | null {
  if (chosen !== undefined) return { content, attachment: { type: 'single_choice_response', selected_option: chosen } };
  if (file === undefined) return { content };
  if (file.state !== 'clean' || file.id === undefined) return null;
  return { content, attachment: { type: 'files', files: [{ id: file.id }] } };
}

/** Trying again would be answered the same. */
function isFinal(error: unknown): error is ProblemError {
  return error instanceof ProblemError && error.status < 500 && ![401, 408, 429].includes(error.status);
}
