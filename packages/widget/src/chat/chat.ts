import type { Api } from '@usher/client/api';
import { Files } from './files.ts';
import { countNew, markFileDeleted, mergeMessages, toMessage, type Message, type Option } from './messages.ts';
import { Outbox, type Content, type UnsentMessage } from './outbox.ts';
import { runWithNotice, type State } from '../state.ts';
import type { Storage } from '../storage.ts';
import type { Store } from '../store.ts';
import { OperatorTyping, Typing, type TypingIndicator } from './typing.ts';

interface ChatOptions {
  readonly api: Api;
  readonly storage: Storage;
  readonly store: Store<State>;
  readonly engagementId: () => string | null;
}

/** The chat of an engagement: messages, files and typing, in both directions. */
export class Chat {
  readonly typing = new Typing((typing) => this.#sendTyping(typing));
  readonly #options: ChatOptions;
  readonly #outbox: Outbox;
  readonly #files: Files;
  readonly #operatorTyping: OperatorTyping;

  constructor(options: ChatOptions) {
    this.#options = options;
    const { api, storage, store } = options;
    this.#outbox = new Outbox({
      storage,
      onChange: (unsent) => store.set({ unsent }),
      send: async (unsent, content) => this.#put(unsent, content),
    });
    this.#files = new Files(api, this.#outbox, (fileRules) => store.set({ fileRules }));
    this.#operatorTyping = new OperatorTyping((isOperatorTyping) => store.set({ isOperatorTyping }));
  }

  send(content: string): void {
    this.typing.stop();
    const engagementId = this.#options.engagementId();
    if (engagementId !== null) this.#outbox.add(engagementId, { content });
  }

  choose({ text, value }: Option): void {
    const engagementId = this.#options.engagementId();
    if (engagementId !== null) this.#outbox.add(engagementId, { content: text, chosen: value });
  }

  attach(files: Iterable<File>): void {
    const { fileRules, stage } = this.#options.store.value;
    const engagementId = this.#options.engagementId();
    if (stage.name !== 'engaged' || fileRules === null || engagementId === null) return;
    for (const file of files) void this.#files.send(engagementId, file, fileRules);
  }

  async download(fileId: string, name: string): Promise<void> {
    const engagementId = this.#options.engagementId() ?? '';
    await runWithNotice(this.#options.store, async () => this.#files.save(engagementId, fileId, name));
  }

  dismiss(id: string): void {
    this.#outbox.remove(id);
  }

  /** Reads the scan results and the rules for files. */
  async refreshFiles(engagementId: string): Promise<void> {
    await this.#files.refresh(engagementId);
  }

  /** Sends the messages that an earlier page could not send. */
  restore(engagementId: string): void {
    this.#outbox.restore(engagementId);
  }

  clear(): void {
    this.#outbox.clear();
  }

  /** Adds messages that were read or that came on the feed. */
  addMessages(more: readonly Message[]): void {
    const { store } = this.#options;
    const { messages, stage, isPanelOpen, unread } = store.value;
    // Messages that are read before the conversation is shown are not new.
    const newCount = stage.name === 'engaged' ? countNew(more, messages) : 0;
    const isSeen = isPanelOpen && document.visibilityState === 'visible';
    if (newCount > 0) store.set({ isOperatorTyping: false, unread: isSeen ? 0 : unread + newCount });
    store.set({ messages: mergeMessages(messages, more) });
    for (const message of more) {
      if (message.from === 'visitor') this.#outbox.remove(message.id);
      else if (message.status === 'sent') void this.#acknowledge(message);
    }
  }

  showTyping(indicator: TypingIndicator): void {
    this.#operatorTyping.apply(indicator);
  }

  markFileDeleted(fileId: string): void {
    const { store } = this.#options;
    store.set({ messages: markFileDeleted(store.value.messages, fileId) });
  }

  applyScan(fileId: string, result: 'clean' | 'infected'): void {
    this.#outbox.applyScan(fileId, result);
  }

  async #put({ id, engagementId }: UnsentMessage, content: Content): Promise<void> {
    const path = { engagement_id: engagementId, message_id: id };
    const operation = 'PUT /engagements/{engagement_id}/chat_messages/{message_id}';
    this.addMessages([toMessage(await this.#options.api.call(operation, { path, body: content }))]);
  }

  /** Shows the operator that the message arrived. A failure is ignored: nothing depends on it. */
  async #acknowledge({ id }: Message): Promise<void> {
    const path = { engagement_id: this.#options.engagementId() ?? '', message_id: id };
    const operation = 'PATCH /engagements/{engagement_id}/chat_messages/{message_id}';
    await this.#options.api.call(operation, { path, body: { status: 'delivered' } }).catch(() => undefined);
  }

  #sendTyping(typing: boolean): void {
    const engagementId = this.#options.engagementId();
    if (engagementId === null || this.#options.store.value.stage.name !== 'engaged') return;
    const path = { engagement_id: engagementId };
    const operation = 'PUT /engagements/{engagement_id}/typing_indicator';
    this.#options.api.call(operation, { path, body: { typing } }).catch(() => undefined);
  }
}
