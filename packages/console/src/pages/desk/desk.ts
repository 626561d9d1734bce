import type { Api } from '@usher/client/api';
import { UsherError, UsherUnreachable } from '@usher/sdk/errors';
import type { LiveFeed } from '../../live/live-feed.ts';
import { describeError } from '../../components/describe-error.ts';
import { storageOf } from '../../data/browser-storage.ts';
import {
  noConversations,
  reduce,
  type Change,
  type Conversation,
  type Conversations,
  type Outgoing,
  type SentAttachment,
} from './conversation/conversation.ts';
import { Calls } from './calls/calls.ts';
import { changeOf, itemTypes } from './conversation/feed-items.ts';
import { ConversationStorage } from './conversation/conversation-storage.ts';
import { isOpen, transferOf } from './conversation/selectors.ts';
import { newId } from '@usher/sdk/new-id';
import { Typing } from './composer/typing.ts';
import { Uploads } from './composer/uploads.ts';
import { texts } from './texts.ts';

interface DeskOptions {
  readonly api: Api;
  readonly live: LiveFeed;
  readonly operatorId: string;
}

/** More engagements than an operator can have at a time. */
const maxEngagements = 100;
/** Ended conversations restored after a reload; older ones are listed with the visitor. */
const maxRestored = 20;
/** Messages that could not be sent are retried after this time at the latest. */
const resendMs = 5_000;

/**
 * The state of the desk, outside of any page: it continues while another page is open. Feed items and reads become changes of one
 * state (see conversation.ts). The messages of a conversation are sent one after the other, so that they arrive in order: a
 * message that cannot be sent blocks those behind it; a refused one does not.
 */
export class Desk {
  readonly #options: DeskOptions;
  readonly storage: ConversationStorage;
  readonly typing: Typing;
  readonly uploads: Uploads;
  readonly calls: Calls;
  readonly #listeners = new Set<() => void>();
  readonly #sending = new Set<string>();
  readonly #unacknowledged = new Map<string, string>();
  #state: Conversations = noConversations;
  #problem: unknown = null;
  #resend: ReturnType<typeof setTimeout> | undefined;
  #isStopped = false;
  readonly #online = (): void => this.#catchUp();

  constructor(options: DeskOptions) {
    this.#options = options;
    this.storage = new ConversationStorage(storageOf('localStorage'), options.operatorId);
    this.typing = new Typing(options.api);
    this.uploads = new Uploads(options.api, async (id) => this.#readFiles(id));
    this.calls = new Calls(options.api, options.live);
    options.live.on(itemTypes, (item) => {
      const change = changeOf(item, { me: options.operatorId, now: Date.now() });
      if (change !== null) this.apply(change);
    });
    // What happened before the feed was open, or during a gap, must be read.
    options.live.on(['feed.open', 'feed.reset'], ({ type, data }) => {
      if (type === 'feed.reset' || (data as { resumed?: boolean }).resumed !== true) void this.read();
      this.#catchUp();
    });
    addEventListener('online', this.#online);
    options.live.onStop(() => this.#stop());
    void this.read();
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly state = (): Conversations => this.#state;

  /** Why the list could not be read. */
  readonly problem = (): unknown => this.#problem;

  get operatorId(): string {
    return this.#options.operatorId;
  }

  /** Stops everything at sign-out, above all the microphone. */
  #stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#resend);
    removeEventListener('online', this.#online);
    this.calls.closeAll();
  }

  apply(change: Change): void {
    if (this.#isStopped) return;
    const before = this.#state;
    this.#state = reduce(before, change);
    if (this.#state === before) return;
    this.#store(before);
    this.calls.follow(this.#state);
    for (const [id, chat] of this.#state.byId) {
      const previous = before.byId.get(id);
      if (previous === undefined) void (chat.isRead ? undefined : this.#readOne(id));
      else if (wasTransferred(previous, chat)) void this.#readTransfers(id);
    }
    this.#notify();
  }

  /** Reads the desk: all active conversations, and the ended ones that were on it before the reload. */
  async read(): Promise<void> {
    const { api, operatorId: me } = this.#options;
    try {
      // The roles of the operator may have changed, and requests about a site without a role are refused.
      const { site_roles: roles } = await api.call('GET /operator_authentication/sessions/current', {});
      const siteIds = Object.keys(roles);
      const query = { site_ids: siteIds, operator_ids: [me], state: 'active', per_page: maxEngagements } as const;
      const { engagements } =
        siteIds.length === 0 ? { engagements: [] } : await api.call('GET /engagements', { query });
      const active = new Set(engagements.map(({ id }) => id));
      const before = new Set([...this.storage.onDesk.slice(-maxRestored), ...this.#state.byId.keys()]);
      const others = await Promise.all(
        [...before].filter((id) => !active.has(id)).map(async (id) => ({ id, engagement: await this.#find(id) })),
      );
      // An operator who was removed from a site cannot read its conversations any more.
      for (const { id, engagement } of others)
        this.apply(
          engagement === null ? { type: 'dismissed', id } : { type: 'engagement', engagement, me, isRead: true },
        );
      for (const engagement of engagements) this.apply({ type: 'engagement', engagement, me, isRead: true });
      const ids = [...this.#state.byId.keys()];
      this.#problem = null;
      this.apply({ type: 'listed' });
      await Promise.all(ids.map(async (id) => this.#readOne(id)));
    } catch (error) {
      this.#problem = error;
      this.#notify();
    }
  }

  async #find(id: string) {
    return this.#options.api
      .call('GET /engagements/{engagement_id}', { path: { engagement_id: id } })
      .catch(nullIfRefused);
  }

  async #readOne(id: string): Promise<void> {
    const { api } = this.#options;
    const path = { engagement_id: id };
    const { unsent, transfer } = this.storage.read(id);
    // The page knows more about conversations that are open already.
    const isNew = this.#state.byId.get(id)?.outgoing.length === 0;
    if (isNew && unsent.length > 0)
      this.apply({ type: 'outgoing', id, outgoing: unsent.map((each) => ({ ...each, state: 'waiting' })) });
    try {
      const [messages, { files }, { media_upgrade_requests: upgrades }] = await Promise.all([
        api.call('GET /engagements/{engagement_id}/chat_transcript', { path }),
        api.call('GET /engagements/{engagement_id}/files', { path }),
        api.call('GET /engagements/{engagement_id}/media_upgrade_requests', { path }),
      ]);
      this.apply({ type: 'transcript', id, messages });
      this.apply({ type: 'files', id, files });
      this.apply({ type: 'upgrades', id, upgrades });
      await this.#readTransfers(id);
      if (transfer !== null) await this.#readTransfer(id, transfer);
      void this.#send(id);
    } catch (error) {
      this.#problem = error;
      this.#notify();
    }
  }

  async #readTransfer(id: string, { kind, id: transferId }: { kind: 'request' | 'ticket'; id: string }): Promise<void> {
    const { api } = this.#options;
    const item =
      kind === 'request'
        ? {
            type: 'transfer_request.state',
            data: await api
              .call('GET /transfer_requests/{request_id}', { path: { request_id: transferId } })
              .catch(nullIfRefused),
          }
        : {
            type: 'transfer_ticket.state',
            data: await api
              .call('GET /transfer_tickets/{ticket_id}', { path: { ticket_id: transferId } })
              .catch(nullIfRefused),
          };
    const change = item.data === null ? null : changeOf(item, { me: this.operatorId, now: Date.now() });
    this.apply(change ?? { type: 'transfer', id, transfer: null });
  }

  /** The transfers with their notes. Few conversations have any. */
  async #readTransfers(id: string): Promise<void> {
    const chat = this.#state.byId.get(id);
    if (chat === undefined || (isOpen(chat) && chat.engagement.sub_engagements.length === 1)) return;
    const read = await this.#options.api
      .call('GET /engagements/{engagement_id}/transfers', { path: { engagement_id: id } })
      .catch(() => null);
    if (read !== null) this.apply({ type: 'transfers', id, transfers: read.transfers });
  }

  async #readFiles(id: string): Promise<void> {
    const { files } = await this.#options.api.call('GET /engagements/{engagement_id}/files', {
      path: { engagement_id: id },
    });
    this.apply({ type: 'files', id, files });
  }

  /** Sends a message under an id of ours: sent twice, it is stored once. */
  send(id: string, content: string, attachment: SentAttachment | null = null): void {
    this.typing.stop(id);
    const at = new Date().toISOString();
    const outgoing: Outgoing = { id: newId(), content, attachment, at, state: 'waiting', problem: null };
    this.apply({ type: 'sending', id, outgoing });
    void this.#send(id);
  }

  /** Also for refused messages: the reason may be gone. */
  sendAgain(id: string, outgoing: Outgoing): void {
    this.apply({ type: 'sending', id, outgoing: { ...outgoing, state: 'waiting', problem: null } });
    void this.#send(id);
  }

  discard(id: string, messageId: string): void {
    this.apply({ type: 'discarded', id, messageId });
  }

  async #send(id: string): Promise<void> {
    if (this.#sending.has(id)) return;
    this.#sending.add(id);
    try {
      for (;;) {
        const next = this.#state.byId.get(id)?.outgoing.find(({ state }) => state === 'waiting');
        if (next === undefined) return;
        if (!(await this.#sendOne(id, next))) return;
      }
    } finally {
      this.#sending.delete(id);
    }
  }

  /** Returns whether the next message may be sent. */
  async #sendOne(id: string, outgoing: Outgoing): Promise<boolean> {
    const setState = (state: Outgoing['state'], problem: string | null): void => {
      const now = this.#state.byId.get(id)?.outgoing.find((each) => each.id === outgoing.id);
      // The message was discarded meanwhile, or the feed reported it first.
      if (now !== undefined) this.apply({ type: 'sending', id, outgoing: { ...outgoing, state, problem } });
    };
    setState('sending', null);
    const { content, attachment } = outgoing;
    try {
      await this.#options.api.call('PUT /engagements/{engagement_id}/chat_messages/{message_id}', {
        path: { engagement_id: id, message_id: outgoing.id },
        body: attachment === null ? { content } : { content, attachment },
      });
      setState('sent', null);
      return true;
    } catch (error) {
      const isRefused = error instanceof UsherError && error.status < 500 && error.status !== 429;
      setState(
        isRefused ? 'refused' : 'waiting',
        error instanceof UsherUnreachable ? texts.cantReachServer : describeError(error),
      );
      if (!isRefused) this.#resendLater();
      return isRefused;
    }
  }

  #resendLater(): void {
    if (this.#isStopped) return;
    clearTimeout(this.#resend);
    this.#resend = setTimeout(() => this.#catchUp(), resendMs);
  }

  /** The connection is back: send what is waiting. */
  #catchUp(): void {
    for (const [id, { isRead }] of this.#state.byId) void (isRead ? this.#send(id) : this.#readOne(id));
    for (const [messageId, id] of this.#unacknowledged) void this.#acknowledge(id, messageId);
  }

  /** Acknowledges the messages that the operator sees. */
  markSeen(id: string): void {
    const conversation = this.#state.byId.get(id);
    if (conversation === undefined) return;
    for (const { id: messageId, target, status } of conversation.messages) {
      if (target !== 'operator' || status === 'delivered') continue;
      this.apply({ type: 'delivered', id, messageId });
      if (isOpen(conversation)) void this.#acknowledge(id, messageId);
    }
  }

  async #acknowledge(id: string, messageId: string): Promise<void> {
    this.#unacknowledged.set(messageId, id);
    try {
      await this.#options.api.call('PATCH /engagements/{engagement_id}/chat_messages/{message_id}', {
        path: { engagement_id: id, message_id: messageId },
        body: { status: 'delivered' },
      });
    } catch (error) {
      if (!(error instanceof UsherError)) return;
    }
    this.#unacknowledged.delete(messageId);
  }

  /** Removes an ended conversation from the desk. */
  dismiss(id: string): void {
    this.storage.update(id, { draft: '', unsent: [], dismissedFiles: [], transfer: null });
    this.apply({ type: 'dismissed', id });
  }

  #store(before: Conversations): void {
    const { byId, isRead } = this.#state;
    for (const [id, chat] of byId) {
      const previous = before.byId.get(id);
      if (previous === undefined) continue;
      if (previous.outgoing !== chat.outgoing) this.storage.updateUnsent(id, previous.outgoing, chat.outgoing);
      const transfer = transferOf(chat);
      if (transferOf(previous) !== transfer)
        this.storage.update(id, { transfer: transfer === null ? null : { kind: transfer.kind, id: transfer.id } });
    }
    // Before the list has been read, the stored conversations are not known yet.
    if (isRead && (!before.isRead || byId.size !== before.byId.size)) this.storage.onDesk = [...byId.keys()];
  }

  #notify(): void {
    for (const listener of this.#listeners) listener();
  }
}

/** Transfers from the operator to a colleague or from a colleague to the operator. */
function wasTransferred(before: Conversation, after: Conversation): boolean {
  const isNewPart = after.engagement.sub_engagements.length !== before.engagement.sub_engagements.length;
  return isNewPart || (before.stage.name === 'open' && after.stage.name === 'transferred');
}

function nullIfRefused(error: unknown): null {
  if (error instanceof UsherError && [403, 404].includes(error.status)) return null;
  throw error;
}
