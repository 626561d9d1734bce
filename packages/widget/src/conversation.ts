import type { Api } from '@usher/client/api';
import { Feed, type FeedItem } from '@usher/client/feed';
import { isOutdated } from '@usher/client/overtaken-reads';
import { ProblemError } from '@usher/client/problem';
import type { Engagement, File as SentFile, MediaUpgradeRequest, QueueTicket } from '@usher/client/api-types';
import type { Medium } from './media.ts';
import { Chat } from './chat.ts';
import { FallbackReads } from './fallback-reads.ts';
import { messageOf } from './messages.ts';
import { isPlace, type Place } from './place.ts';
import { watchPresence } from './presence.ts';
import { reasonOf } from './reasons.ts';
import type { Settings } from './settings.ts';
import { attempt, engagementOf, initialState, type State, type Upgrade } from './state.ts';
import type { Storage } from './storage.ts';
import type { Store } from './store.ts';
import { refusalInWords } from './texts.ts';
import type { TypingIndicator } from './typing.ts';
import { Upgrades } from './upgrades.ts';
import type { Visitor } from './visitor.ts';
import { words } from './words.ts';

interface Parts {
  readonly api: Api;
  readonly settings: Settings;
  readonly storage: Storage;
  readonly visitor: Visitor;
  readonly store: Store<State>;
  /** What the feed brings for calls; and that it was opened again, so that something may be missing. */
  readonly onSignal: (data: unknown) => void;
  readonly onOpen: () => void;
}

/** A transcript is shown again after a reload for so long. */
const rememberedMs = 60 * 60 * 1000;

/** How the visitor comes to an engagement and leaves it. All that is to be shown is in the store; the stages are in state.ts. */
export class Conversation {
  readonly chat: Chat;
  readonly upgrades: Upgrades;
  readonly #parts: Parts;
  readonly #feed: Feed;
  readonly #reads: FallbackReads;
  #place: Place | null = null;

  constructor(parts: Parts) {
    this.#parts = parts;
    const { api, storage, store } = parts;
    const engagementId = (): string | null => this.#place?.engagementId ?? null;
    this.chat = new Chat({ api, storage, store, engagementId });
    this.upgrades = new Upgrades({ api, store, engagementId });
    this.#feed = new Feed({
      open: async (lastId, signal) =>
        api.send('/feed?hold_presence=true', {
          signal,
          headers: lastId === null ? {} : { 'last-event-id': lastId },
        }),
      onItem: (item) => this.#take(item),
      onState: (connection) => {
        if (connection === 'open') this.#reads.stop();
        store.set({ connection: this.#reads.works && connection !== 'ended' ? 'open' : connection });
        if (connection === 'ended') this.#forget();
      },
      onSilence: () => this.#reads.start(),
    });
    this.#reads = new FallbackReads({
      read: async () => this.#refresh(),
      onRead: (isDone) => store.set({ connection: isDone ? 'open' : 'lost' }),
    });
    storage.watch((name) => {
      if (name === 'place' || name === null) this.resume();
    });
    watchPresence({
      api,
      visitorId: () => (this.#isUnderWay ? parts.visitor.id : null),
      onBack: () => {
        this.#feed.hurry();
        if (store.value.isPanelOpen) store.set({ unread: 0 });
      },
    });
  }

  /** Goes on where this browser left off, if it did. */
  resume(): void {
    const place = this.#parts.storage.get('place', isPlace);
    if (place === null || this.#parts.visitor.id === null) {
      if (this.#place !== null) this.#reset();
      return;
    }
    const isNew = place.ticketId !== this.#place?.ticketId || place.engagementId !== this.#place.engagementId;
    this.#place = place;
    if (isNew) void this.#refresh().then(() => this.#follow());
  }

  async start(medium: Medium, name: string): Promise<void> {
    const { store, visitor } = this.#parts;
    const given = name.trim() === '' ? null : name.trim();
    const { open, staffed, opensAt } = store.value;
    store.set({ ...initialState, stage: { name: 'starting' }, open, staffed, opensAt, isPanelOpen: true });
    try {
      const ticket = await this.#enqueue(medium, given).catch(async (error: unknown) => {
        if (!(error instanceof ProblemError && error.status === 401)) throw error;
        // Whom this browser remembers is not known any more: it begins as somebody else.
        visitor.forget();
        return this.#enqueue(medium, given);
      });
      this.#settle({ ticketId: ticket.id, engagementId: ticket.engagement_id });
      this.#takeTicket(ticket);
      this.#follow();
    } catch (error) {
      this.#giveUp(error);
    }
  }

  async #enqueue(medium: Medium, name: string | null): Promise<QueueTicket> {
    const { api, settings, visitor } = this.#parts;
    const isKnown = visitor.id !== null;
    await visitor.ensure(name);
    if (isKnown && name !== null) await this.#rename(name);
    const queues = settings.queues.length === 0 ? {} : { queue_ids: settings.queues };
    const body = { site_id: settings.site, media: medium, source: location.origin, ...queues };
    return api.call('POST /queue_tickets', { body });
  }

  async cancel(): Promise<void> {
    if (this.#place === null) return;
    const { api, store } = this.#parts;
    const path = { ticket_id: this.#place.ticketId };
    await attempt(store, async () => {
      await api
        .call('PATCH /queue_tickets/{ticket_id}', { path, body: { action: 'cancel' } })
        // The ticket has become something else meanwhile, which the feed tells.
        .catch(unlessCode('ticket_ended'));
      if (store.value.stage.name === 'waiting') this.#reset();
    });
  }

  async end(): Promise<void> {
    const { api, store } = this.#parts;
    const id = this.#place?.engagementId ?? null;
    if (id === null) return;
    await attempt(store, async () => {
      await api
        .call('PATCH /engagements/{engagement_id}', { path: { engagement_id: id }, body: { action: 'end' } })
        .catch(unlessCode('engagement_ended'));
      await this.#readEngagement(id);
    });
  }

  /** Back to the beginning. */
  leave(): void {
    this.#reset();
  }

  open(): void {
    this.#parts.store.set({ isPanelOpen: true, unread: 0 });
    this.#feed.hurry();
  }

  close(): void {
    this.#parts.store.set({ isPanelOpen: false });
  }

  dismissNotice(): void {
    this.#parts.store.set({ notice: null });
  }

  async #rename(name: string): Promise<void> {
    const { api, settings, visitor } = this.#parts;
    const path = { site_id: settings.site, visitor_id: visitor.id ?? '' };
    const body = { site_id: settings.site, name };
    await api.call('PATCH /sites/{site_id}/visitors/{visitor_id}', { path, body });
  }

  #follow(): void {
    if (this.#isUnderWay) this.#feed.start();
  }

  #stopFollowing(): void {
    this.#feed.stop();
    this.#reads.stop();
  }

  get #isUnderWay(): boolean {
    const { name } = this.#parts.store.value.stage;
    return name === 'waiting' || name === 'engaged';
  }

  #settle(place: Place): void {
    this.#place = place;
    this.#parts.storage.set('place', place);
  }

  /** Asking has failed: says why, as far as that is of use to a visitor. */
  #giveUp(error: unknown): void {
    const { store } = this.#parts;
    const code = error instanceof ProblemError ? error.code : '';
    const text = refusalInWords(code) ?? reasonOf(error);
    store.set({ stage: { name: 'idle' }, notice: { kind: 'problem', text } });
  }

  /** Nobody knows this visitor any more. */
  #forget(): void {
    this.#parts.visitor.forget();
    this.#reset();
  }

  #reset(): void {
    const { storage, store } = this.#parts;
    this.#stopFollowing();
    this.chat.clear();
    this.upgrades.clear();
    storage.remove('place');
    this.#place = null;
    const { open, opensAt, isPanelOpen } = store.value;
    store.set({ ...initialState, open, opensAt, isPanelOpen });
  }

  /** Reads everything as it is now: what follows on the feed is all that it will change by. Answers whether it could be read. */
  async #refresh(): Promise<boolean> {
    const place = this.#place;
    if (place === null) return true;
    try {
      if (place.engagementId !== null) await this.#readEngagement(place.engagementId);
      else {
        const path = { ticket_id: place.ticketId };
        this.#takeTicket(await this.#parts.api.call('GET /queue_tickets/{ticket_id}', { path }));
      }
      return true;
    } catch (error) {
      if (error instanceof ProblemError && [401, 403, 404].includes(error.status)) this.#forget();
      // Any other failure is one of the connection: the feed will be opened again, and this done once more.
      else if (this.#place === place) this.#showUnread(place);
      return false;
    }
  }

  /** The place is known, and nothing could be read of it yet. What is shown of it already stays. */
  #showUnread({ engagementId }: Place): void {
    const { store } = this.#parts;
    const { stage } = store.value;
    if (engagementId === null) {
      if (stage.name !== 'waiting') store.set({ stage: { name: 'waiting', ticket: null } });
    } else if (stage.name !== 'engaged' && engagementOf(stage)?.id !== engagementId)
      store.set({ stage: { name: 'engaged', engagement: null, upgrade: null, callMedia: null } });
  }

  async #readEngagement(id: string): Promise<void> {
    const { api, store } = this.#parts;
    const path = { engagement_id: id };
    const [engagement, messages, { media_upgrade_requests: upgrades }] = await Promise.all([
      api.call('GET /engagements/{engagement_id}', { path }),
      api.call('GET /engagements/{engagement_id}/chat_transcript', { path }),
      api.call('GET /engagements/{engagement_id}/media_upgrade_requests', { path }),
      this.chat.readFiles(id),
    ]);
    if (engagement.ended_at !== null && Date.now() - Date.parse(engagement.ended_at) > rememberedMs)
      return this.#reset();
    this.chat.show(messages.map((message) => messageOf(message)));
    this.upgrades.takeAll(id, upgrades);
    const shown = engagementOf(store.value.stage);
    const known = shown?.id === id ? shown : null;
    this.#takeEngagement(known !== null && isOutdated(engagement, known) ? known : engagement);
    this.chat.restore(id);
  }

  #take({ type, data }: FeedItem): void {
    switch (type) {
      case 'feed.open':
      case 'feed.reset':
        this.#parts.onOpen();
        return void this.#refresh();
      case 'queue_ticket.state':
        return this.#takeTicket(data as QueueTicket);
      case 'engagement.state':
        return this.#takeEngagement(data as Engagement);
      case 'engagement.chat.message':
      case 'engagement.chat.message_status':
      case 'engagement.chat.message.status':
        return this.chat.show([messageOf((data as { message: Parameters<typeof messageOf>[0] }).message)]);
      case 'engagement.chat.typing_indicator.operator':
        return this.chat.showTyping((data as { typing_indicator: TypingIndicator }).typing_indicator);
      case 'engagement.media_upgrade_request': {
        type Asked = { media_upgrade_request: Omit<Upgrade, 'state'> };
        return this.upgrades.take({ ...(data as Asked).media_upgrade_request, state: 'pending' });
      }
      case 'media_upgrade_request.state':
        return this.upgrades.take(data as MediaUpgradeRequest);
      case 'file.state': {
        const { id, deleted } = data as SentFile;
        return deleted ? this.chat.showDeleted(id) : undefined;
      }
      case 'engagement.files.security_scan_result': {
        type Scan = { security_scan_result: { file_id: string; result: 'clean' | 'infected' } };
        const { file_id: id, result } = (data as Scan).security_scan_result;
        return this.chat.showScanned(id, result);
      }
      case 'engagement.signal':
        return this.#parts.onSignal(data);
      default:
    }
  }

  #takeTicket(ticket: QueueTicket): void {
    const { store } = this.#parts;
    if (ticket.id !== this.#place?.ticketId || this.#place.engagementId !== null) return;
    if (ticket.state === 'engaged' && ticket.engagement_id !== null) {
      this.#settle({ ticketId: ticket.id, engagementId: ticket.engagement_id });
      void this.#refresh();
    } else if (ticket.state === 'waiting' || ticket.state === 'offered')
      store.set({ stage: { name: 'waiting', ticket } });
    else {
      this.#reset();
      store.set({ notice: { kind: 'info', text: words.outcomes[ticket.state] } });
    }
  }

  #takeEngagement(engagement: Engagement): void {
    const { store } = this.#parts;
    if (engagement.id !== this.#place?.engagementId) return;
    if (engagement.state === 'ended') {
      store.set({ stage: { name: 'ended', engagement }, isOperatorTyping: false });
      this.#stopFollowing();
    } else store.set({ stage: this.upgrades.stageOf(engagement) });
  }
}

/** A refusal with that code is what was wanted. */
function unlessCode(code: string): (error: unknown) => void {
  return (error) => {
    if (!(error instanceof ProblemError && error.code === code)) throw error;
  };
}
