import type { Api } from '@usher/client/api';
import { Files } from './files.ts';
import { merge, messageOf, newsAmong, withDeleted, type Message, type Option } from './messages.ts';
import { Outbox, type Content, type Unsent } from './outbox.ts';
import { attempt, type State } from './state.ts';
import type { Storage } from './storage.ts';
import type { Store } from './store.ts';
import { OperatorTyping, Typing, type TypingIndicator } from './typing.ts';

interface Parts {
  readonly api: Api;
  readonly storage: Storage;
  readonly store: Store<State>;
  readonly engagementId: () => string | null;
}

/** What is written in the engagement: messages and files, both ways, and who is typing. */
export class Chat {
  readonly typing = new Typing((typing) => this.#tellTyping(typing));
  readonly #parts: Parts;
  readonly #outbox: Outbox;
  readonly #files: Files;
  readonly #operatorTyping: OperatorTyping;

  constructor(parts: Parts) {
    this.#parts = parts;
    const { api, storage, store } = parts;
    this.#outbox = new Outbox({
      storage,
      changed: (unsent) => store.set({ unsent }),
      put: async (unsent, content) => this.#put(unsent, content),
    });
    this.#files = new Files(api, this.#outbox, (fileRules) => store.set({ fileRules }));
    this.#operatorTyping = new OperatorTyping((isOperatorTyping) => store.set({ isOperatorTyping }));
  }

  send(content: string): void {
    this.typing.stop();
    const engagementId = this.#parts.engagementId();
    if (engagementId !== null) this.#outbox.add(engagementId, { content });
  }

  choose({ text, value }: Option): void {
    const engagementId = this.#parts.engagementId();
    if (engagementId !== null) this.#outbox.add(engagementId, { content: text, chosen: value });
  }

  attach(files: Iterable<File>): void {
    const { fileRules, stage } = this.#parts.store.value;
    const engagementId = this.#parts.engagementId();
    if (stage.name !== 'engaged' || fileRules === null || engagementId === null) return;
    for (const file of files) void this.#files.send(engagementId, file, fileRules);
  }

  async download(fileId: string, name: string): Promise<void> {
    const engagementId = this.#parts.engagementId() ?? '';
    await attempt(this.#parts.store, async () => this.#files.save(engagementId, fileId, name));
  }

  dismiss(id: string): void {
    this.#outbox.remove(id);
  }

  /** How the scans of files stand, and what may be sent. */
  async readFiles(engagementId: string): Promise<void> {
    await this.#files.look(engagementId);
  }

  /** Messages that an earlier page has not sent are sent now. */
  restore(engagementId: string): void {
    this.#outbox.restore(engagementId);
  }

  clear(): void {
    this.#outbox.clear();
  }

  /** Adds messages that were read or that the feed brought. */
  show(more: readonly Message[]): void {
    const { store } = this.#parts;
    const { messages, stage, isPanelOpen, unread } = store.value;
    // What is read before the conversation is shown was there already.
    const news = stage.name === 'engaged' ? newsAmong(more, messages) : 0;
    const isSeen = isPanelOpen && document.visibilityState === 'visible';
    if (news > 0) store.set({ isOperatorTyping: false, unread: isSeen ? 0 : unread + news });
    store.set({ messages: merge(messages, more) });
    for (const message of more) {
      if (message.from === 'visitor') this.#outbox.remove(message.id);
      else if (message.status === 'sent') void this.#acknowledge(message);
    }
  }

  showTyping(indicator: TypingIndicator): void {
    this.#operatorTyping.take(indicator);
  }

  showDeleted(fileId: string): void {
    const { store } = this.#parts;
    store.set({ messages: withDeleted(store.value.messages, fileId) });
  }

  showScanned(fileId: string, result: 'clean' | 'infected'): void {
    this.#outbox.scanned(fileId, result);
  }

  async #put({ id, engagementId }: Unsent, content: Content): Promise<void> {
    const path = { engagement_id: engagementId, message_id: id };
    const operation = 'PUT /engagements/{engagement_id}/chat_messages/{message_id}';
    this.show([messageOf(await this.#parts.api.call(operation, { path, body: content }))]);
  }

  /** Only for the other side's comfort: a failure changes nothing. */
  async #acknowledge({ id }: Message): Promise<void> {
    const path = { engagement_id: this.#parts.engagementId() ?? '', message_id: id };
    const operation = 'PATCH /engagements/{engagement_id}/chat_messages/{message_id}';
    await this.#parts.api.call(operation, { path, body: { status: 'delivered' } }).catch(() => undefined);
  }

  #tellTyping(typing: boolean): void {
    const engagementId = this.#parts.engagementId();
    if (engagementId === null || this.#parts.store.value.stage.name !== 'engaged') return;
    const path = { engagement_id: engagementId };
    const operation = 'PUT /engagements/{engagement_id}/typing_indicator';
    this.#parts.api.call(operation, { path, body: { typing } }).catch(() => undefined);
  }
}
