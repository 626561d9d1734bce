import type { Api } from '@usher/client/api';
import { Feed, type FeedItem } from '@usher/client/feed';
import { isOutdated } from '@usher/client/overtaken-reads';
import { UsherError } from '@usher/sdk/errors';
import type { Engagement, File as SentFile, MediaUpgradeRequest, QueueTicket } from '@usher/sdk/api-types';
import type { Medium } from './calls/media.ts';
import { Chat } from './chat/chat.ts';
import { FallbackPolling } from './fallback-polling.ts';
import { toMessage } from './chat/messages.ts';
import { isConversationRef, type ConversationRef } from './conversation-ref.ts';
import { watchPresence } from './presence.ts';
import { describeError } from './describe-error.ts';
import type { Settings } from './settings.ts';
import { engagementOf, initialState, runWithNotice, type State, type UpgradeRequest } from './state.ts';
import type { Storage } from './storage.ts';
import type { Store } from './store.ts';
import { describeQueueRefusal } from './chat/descriptions.ts';
import type { TypingIndicator } from './chat/typing.ts';
import { Upgrades } from './calls/upgrades.ts';
import type { Visitor } from './visitor.ts';
import { texts } from './texts.ts';

interface ConversationOptions {
  readonly api: Api;
  readonly settings: Settings;
  readonly storage: Storage;
  readonly visitor: Visitor;
  readonly store: Store<State>;
  /** A signal of a call came on the feed. */
  readonly onSignal: (data: unknown) => void;
  /** The feed was opened. Signals may have been lost before. */
  readonly onFeedOpen: () => void;
  /** The call that the visitor requested was declined or canceled. */
  readonly onCallRefused: () => void;
}

/** How long after the end of a conversation a reload still shows its transcript. */
const transcriptMs = 60 * 60 * 1000;

/** Leads the visitor through a conversation, from the ticket to its end. The stages are described in state.ts. */
export class Conversation {
  readonly chat: Chat;
  readonly upgrades: Upgrades;
  readonly #options: ConversationOptions;
  readonly #feed: Feed;
  readonly #polling: FallbackPolling;
  #ref: ConversationRef | null = null;

  constructor(options: ConversationOptions) {
    this.#options = options;
    const { api, storage, store } = options;
    const engagementId = (): string | null => this.#ref?.engagementId ?? null;
    this.chat = new Chat({ api, storage, store, engagementId });
    this.upgrades = new Upgrades({ api, store, engagementId, onRefused: () => options.onCallRefused() });
    this.#feed = new Feed({
      api,
      holdPresence: () => true,
      onItem: (item) => this.#handleItem(item),
      onState: (connection) => {
        if (connection === 'open') this.#polling.stop();
        store.set({ connection: this.#polling.works && connection !== 'ended' ? 'open' : connection });
        if (connection === 'ended') this.#forgetVisitor();
      },
      onSilence: () => this.#polling.start(),
    });
    this.#polling = new FallbackPolling({
      read: async () => this.#refresh(),
      onRead: (isDone) => store.set({ connection: isDone ? 'open' : 'lost' }),
    });
    storage.watch((name) => {
      if (name === 'place' || name === null) this.resume();
    });
    watchPresence({
      api,
      visitorId: () => (this.#isUnderWay ? options.visitor.id : null),
      onBack: () => {
        this.#feed.hurry();
        if (store.value.isPanelOpen) store.set({ unread: 0 });
      },
    });
  }

  /** Resumes the conversation that this browser has stored, if any. */
  resume(): void {
    const ref = this.#options.storage.get('place', isConversationRef);
    if (ref === null || this.#options.visitor.id === null) {
      if (this.#ref !== null) this.#reset();
      return;
    }
    const isNew = ref.ticketId !== this.#ref?.ticketId || ref.engagementId !== this.#ref.engagementId;
    this.#ref = ref;
    if (isNew) void this.#refresh().then(() => this.#startFeed());
  }

  async start(medium: Medium, name: string): Promise<void> {
    const { store, visitor } = this.#options;
    const visitorName = name.trim() === '' ? null : name.trim();
    const { openMedia, staffedMedia, opensAt } = store.value;
    store.set({ ...initialState, stage: { name: 'starting' }, openMedia, staffedMedia, opensAt, isPanelOpen: true });
    try {
      const ticket = await this.#enqueue(medium, visitorName).catch(async (error: unknown) => {
        if (!(error instanceof UsherError && error.status === 401)) throw error;
        // The server no longer knows the stored visitor: a new one is created.
        visitor.forget();
        return this.#enqueue(medium, visitorName);
      });
      this.#setRef({ ticketId: ticket.id, engagementId: ticket.engagement_id });
      this.#applyTicket(ticket);
      this.#startFeed();
    } catch (error) {
      this.#failStart(error);
    }
  }

  async #enqueue(medium: Medium, name: string | null): Promise<QueueTicket> {
    const { api, settings, visitor } = this.#options;
    const isReturning = visitor.id !== null;
    await visitor.ensure(name);
    if (isReturning && name !== null) await this.#rename(name);
    const queueIds = settings.queues.length === 0 ? {} : { queue_ids: settings.queues };
    const body = { site_id: settings.site, media: medium, source: location.origin, ...queueIds };
    return api.call('POST /queue_tickets', { body });
  }

  async cancel(): Promise<void> {
    if (this.#ref === null) return;
    const { api, store } = this.#options;
    const path = { ticket_id: this.#ref.ticketId };
    await runWithNotice(store, async () => {
      await api
        .call('PATCH /queue_tickets/{ticket_id}', { path, body: { action: 'cancel' } })
        // The ticket has ended or become an engagement already; the feed reports that.
        .catch(ignoreCode('ticket_ended'));
      if (store.value.stage.name === 'waiting') this.#reset();
    });
  }

  async end(): Promise<void> {
    const { api, store } = this.#options;
    const id = this.#ref?.engagementId ?? null;
    if (id === null) return;
    await runWithNotice(store, async () => {
      await api
        .call('PATCH /engagements/{engagement_id}', { path: { engagement_id: id }, body: { action: 'end' } })
        .catch(ignoreCode('engagement_ended'));
      await this.#readEngagement(id);
    });
  }

  /** Returns to the start page after the end of a conversation. */
  leave(): void {
    this.#reset();
  }

  open(): void {
    this.#options.store.set({ isPanelOpen: true, unread: 0 });
    this.#feed.hurry();
  }

  close(): void {
    this.#options.store.set({ isPanelOpen: false });
  }

  dismissNotice(): void {
    this.#options.store.set({ notice: null });
  }

  async #rename(name: string): Promise<void> {
    const { api, settings, visitor } = this.#options;
    const path = { site_id: settings.site, visitor_id: visitor.id ?? '' };
    const body = { site_id: settings.site, name };
    await api.call('PATCH /sites/{site_id}/visitors/{visitor_id}', { path, body });
  }

  #startFeed(): void {
    if (this.#isUnderWay) this.#feed.start();
  }

  #stopFeed(): void {
    this.#feed.stop();
    this.#polling.stop();
  }

  get #isUnderWay(): boolean {
    const { name } = this.#options.store.value.stage;
    return name === 'waiting' || name === 'engaged';
  }

  #setRef(ref: ConversationRef): void {
    this.#ref = ref;
    this.#options.storage.set('place', ref);
  }

  /** No ticket could be created: shows why. */
  #failStart(error: unknown): void {
    const { store } = this.#options;
    const code = error instanceof UsherError ? error.code : '';
    const text = describeQueueRefusal(code) ?? describeError(error);
    store.set({ stage: { name: 'idle' }, notice: { kind: 'problem', text } });
  }

  /** The server no longer knows this visitor. */
  #forgetVisitor(): void {
    this.#options.visitor.forget();
    this.#reset();
  }

  #reset(): void {
    const { storage, store } = this.#options;
    this.#stopFeed();
    this.chat.clear();
    this.upgrades.clear();
    storage.remove('place');
    this.#ref = null;
    const { openMedia, opensAt, isPanelOpen } = store.value;
    store.set({ ...initialState, openMedia, opensAt, isPanelOpen });
  }

  /** Reads the current state; the feed then brings all later changes. Returns whether the read succeeded. */
  async #refresh(): Promise<boolean> {
    const ref = this.#ref;
    if (ref === null) return true;
    try {
      if (ref.engagementId !== null) await this.#readEngagement(ref.engagementId);
      else {
        const path = { ticket_id: ref.ticketId };
        this.#applyTicket(await this.#options.api.call('GET /queue_tickets/{ticket_id}', { path }));
      }
      return true;
    } catch (error) {
      if (error instanceof UsherError && [401, 403, 404].includes(error.status)) this.#forgetVisitor();
      // Any other failure is temporary: the feed reconnects and triggers another read.
      else if (this.#ref === ref) this.#showLoading(ref);
      return false;
    }
  }

  /** Shows the stage while its content could not be read yet. Content that is already shown stays. */
  #showLoading({ engagementId }: ConversationRef): void {
    const { store } = this.#options;
    const { stage } = store.value;
    if (engagementId === null) {
      if (stage.name !== 'waiting') store.set({ stage: { name: 'waiting', ticket: null } });
    } else if (stage.name !== 'engaged' && engagementOf(stage)?.id !== engagementId)
      store.set({ stage: { name: 'engaged', engagement: null, upgrade: null, callMedia: null } });
  }

  async #readEngagement(id: string): Promise<void> {
    const { api, store } = this.#options;
    const path = { engagement_id: id };
    const [engagement, messages, { media_upgrade_requests: upgrades }] = await Promise.all([
      api.call('GET /engagements/{engagement_id}', { path }),
      api.call('GET /engagements/{engagement_id}/chat_transcript', { path }),
      api.call('GET /engagements/{engagement_id}/media_upgrade_requests', { path }),
      this.chat.refreshFiles(id),
    ]);
    if (engagement.ended_at !== null && Date.now() - Date.parse(engagement.ended_at) > transcriptMs)
      return this.#reset();
    this.chat.addMessages(messages.map((message) => toMessage(message)));
    this.upgrades.applyAll(id, upgrades);
    const shown = engagementOf(store.value.stage);
    const current = shown?.id === id ? shown : null;
    this.#applyEngagement(current !== null && isOutdated(engagement, current) ? current : engagement);
    this.chat.restore(id);
  }

  #handleItem({ type, data }: FeedItem): void {
    switch (type) {
      case 'feed.open':
      case 'feed.reset':
        this.#options.onFeedOpen();
        return void this.#refresh();
      case 'queue_ticket.state':
        return this.#applyTicket(data as QueueTicket);
      case 'engagement.state':
        return this.#applyEngagement(data as Engagement);
      case 'engagement.chat.message':
      case 'engagement.chat.message_status':
      case 'engagement.chat.message.status':
        return this.chat.addMessages([toMessage((data as { message: Parameters<typeof toMessage>[0] }).message)]);
      case 'engagement.chat.typing_indicator.operator':
        return this.chat.showTyping((data as { typing_indicator: TypingIndicator }).typing_indicator);
      case 'engagement.media_upgrade_request': {
        type NewRequest = { media_upgrade_request: Omit<UpgradeRequest, 'state'> };
        return this.upgrades.apply({ ...(data as NewRequest).media_upgrade_request, state: 'pending' });
      }
      case 'media_upgrade_request.state':
        return this.upgrades.apply(data as MediaUpgradeRequest);
      case 'file.state': {
        const { id, deleted } = data as SentFile;
        return deleted ? this.chat.markFileDeleted(id) : undefined;
      }
      case 'engagement.files.security_scan_result': {
        type ScanResult = { security_scan_result: { file_id: string; result: 'clean' | 'infected' } };
        const { file_id: id, result } = (data as ScanResult).security_scan_result;
        return this.chat.applyScan(id, result);
      }
      case 'engagement.signal':
        return this.#options.onSignal(data);
      default:
    }
  }

  #applyTicket(ticket: QueueTicket): void {
    const { store } = this.#options;
    if (ticket.id !== this.#ref?.ticketId || this.#ref.engagementId !== null) return;
    if (ticket.state === 'engaged' && ticket.engagement_id !== null) {
      this.#setRef({ ticketId: ticket.id, engagementId: ticket.engagement_id });
      void this.#refresh();
    } else if (ticket.state === 'waiting' || ticket.state === 'offered')
      store.set({ stage: { name: 'waiting', ticket } });
    else {
      this.#reset();
      store.set({ notice: { kind: 'info', text: texts.ticketEnds[ticket.state] } });
    }
  }

  #applyEngagement(engagement: Engagement): void {
    const { store } = this.#options;
    if (engagement.id !== this.#ref?.engagementId) return;
    if (engagement.state === 'ended') {
      store.set({ stage: { name: 'ended', engagement }, isOperatorTyping: false });
      this.#stopFeed();
    } else store.set({ stage: this.upgrades.stageOf(engagement) });
  }
}

/** Ignores a refusal with this code, because the desired state is reached already. */
function ignoreCode(code: string): (error: unknown) => void {
  return (error) => {
    if (!(error instanceof UsherError && error.code === code)) throw error;
  };
}
