import { UsherError } from '@usher/sdk/errors';
import { newId } from '@usher/sdk/new-id';
import { describeError } from '../describe-error.ts';
import type { Storage } from '../storage.ts';
import { texts } from '../texts.ts';

/** A message that the server has not acknowledged. Stored in the browser under its id, so that it can be sent again after a reload. */
export interface UnsentMessage {
  readonly id: string;
  readonly engagementId: string;
  /** As `Date.now()`. */
  readonly at: number;
  readonly content: string;
  /** The value of the option that the visitor chose on a card. */
  readonly chosen?: string;
  readonly file?: UnsentFile;
  /** Why the message was refused. A refused message is not retried. */
  readonly refused?: string;
}

/** `pending`: being scanned. A `clean` file can be sent with its message. */
export interface UnsentFile {
  readonly name: string;
  readonly bytes: number;
  readonly state: 'uploading' | 'pending' | 'clean' | 'infected';
  /** Set when the upload is complete. */
  readonly id?: string;
}

export interface Content {
  readonly content: string;
  readonly attachment?:
    | { readonly type: 'single_choice_response'; readonly selected_option: string }
    | { readonly type: 'files'; readonly files: readonly { readonly id: string }[] };
}

function isUnsentMessage(value: unknown): value is UnsentMessage {
  const { id, engagementId, content } = (value ?? {}) as Partial<Record<keyof UnsentMessage, unknown>>;
  return typeof id === 'string' && typeof engagementId === 'string' && typeof content === 'string';
}

interface OutboxOptions {
  readonly storage: Storage;
  readonly onChange: (unsent: readonly UnsentMessage[]) => void;
  /** Sends a message and resolves when the server has accepted it. */
  readonly send: (unsent: UnsentMessage, content: Content) => Promise<void>;
}

/** The delay after a temporary failure. */
const retryMs = 2_000;

/**
 * Sends messages one at a time, in the order they were written. Each is retried until the server accepts or refuses it. The server
 * identifies a message by its id, so a reload, another tab or a lost response creates no duplicate.
 */
export class Outbox {
  readonly #options: OutboxOptions;
  #unsent: readonly UnsentMessage[] = [];
  #isSending = false;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(options: OutboxOptions) {
    this.#options = options;
  }

  /** Restores the messages of an earlier page. A file whose upload was not complete is lost with that page. */
  restore(engagementId: string): void {
    const { storage } = this.#options;
    const stored = storage.names('unsent.').flatMap((name) => storage.get(name, isUnsentMessage) ?? []);
    const ours = stored.filter((each) => each.engagementId === engagementId);
    for (const each of stored) if (!ours.includes(each)) storage.remove(`unsent.${each.id}`);
    const currentIds = new Set(this.#unsent.map(({ id }) => id));
    const more = ours.filter(({ id }) => !currentIds.has(id)).toSorted((one, other) => one.at - other.at);
    this.#update([...more, ...this.#unsent.filter((each) => each.engagementId === engagementId)]);
    this.flush();
  }

  add(engagementId: string, fields: Pick<UnsentMessage, 'content' | 'chosen' | 'file'>): UnsentMessage {
    const unsent: UnsentMessage = { id: newId(), engagementId, at: Date.now(), ...fields };
    this.#store(unsent);
    this.#update([...this.#unsent, unsent]);
    this.flush();
    return unsent;
  }

  /** Updates the file of a message; `refused`: why the file was refused. */
  changeFile(id: string, changes: Partial<UnsentFile>, refused?: string): void {
    const unsent = this.#unsent.find((each) => each.id === id);
    if (unsent?.file === undefined) return;
    this.#replace({ ...unsent, file: { ...unsent.file, ...changes }, ...(refused === undefined ? {} : { refused }) });
    this.flush();
  }

  /** Applies the result of a virus scan. */
  applyScan(fileId: string, state: 'pending' | 'clean' | 'infected'): void {
    const unsent = this.#unsent.find(({ file }) => file?.id === fileId);
    if (unsent === undefined || state === 'pending') return;
    const refused = state === 'infected' ? texts.virus : undefined;
    this.changeFile(unsent.id, { state }, refused);
  }

  /** Removes a message that the server has, or that the visitor dismissed. */
  remove(id: string): void {
    if (!this.#unsent.some((each) => each.id === id)) return;
    this.#options.storage.remove(`unsent.${id}`);
    this.#update(this.#unsent.filter((each) => each.id !== id));
  }

  clear(): void {
    clearTimeout(this.#timer);
    for (const { id } of this.#unsent) this.#options.storage.remove(`unsent.${id}`);
    this.#update([]);
  }

  /** Sends all messages that are ready. */
  flush(): void {
    clearTimeout(this.#timer);
    if (!this.#isSending) void this.#send();
  }

  async #send(): Promise<void> {
    this.#isSending = true;
    for (let next = this.#next(); next !== null; next = this.#next()) {
      const { unsent, content } = next;
      try {
        await this.#options.send(unsent, content);
        this.remove(unsent.id);
      } catch (error) {
        if (!isFinal(error)) {
          this.#timer = setTimeout(() => this.flush(), retryMs);
          break;
        }
        this.#replace({ ...unsent, refused: describeError(error) });
      }
    }
    this.#isSending = false;
  }

  #next(): { readonly unsent: UnsentMessage; readonly content: Content } | null {
    for (const unsent of this.#unsent) {
      const content = unsent.refused === undefined ? contentOf(unsent) : null;
      if (content !== null) return { unsent, content };
    }
    return null;
  }

  #replace(unsent: UnsentMessage): void {
    if (!this.#unsent.some(({ id }) => id === unsent.id)) return;
    if (unsent.refused === undefined) this.#store(unsent);
    else this.#options.storage.remove(`unsent.${unsent.id}`);
    this.#update(this.#unsent.map((each) => (each.id === unsent.id ? unsent : each)));
  }

  #store(unsent: UnsentMessage): void {
    if (unsent.file?.state !== 'uploading') this.#options.storage.set(`unsent.${unsent.id}`, unsent);
  }

  #update(unsent: readonly UnsentMessage[]): void {
    this.#unsent = unsent;
    this.#options.onChange(unsent);
  }
}

/** The body of the request; `null`: the file is not ready. */
function contentOf({ content, chosen, file }: UnsentMessage): Content | null {
  if (chosen !== undefined) return { content, attachment: { type: 'single_choice_response', selected_option: chosen } };
  if (file === undefined) return { content };
  if (file.state !== 'clean' || file.id === undefined) return null;
  return { content, attachment: { type: 'files', files: [{ id: file.id }] } };
}

/** Whether a retry would get the same answer. */
function isFinal(error: unknown): error is UsherError {
  return error instanceof UsherError && error.status < 500 && ![401, 408, 429].includes(error.status);
}
