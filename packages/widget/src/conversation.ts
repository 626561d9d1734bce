import type { Api } from '@usher/client/api';
import { Feed, type FeedItem } from '@usher/client/feed';
import { isOutdated, mergeUpgrades } from '@usher/client/overtaken-reads';
import { ProblemError } from '@usher/client/problem';
import type { Engagement, File as SentFile, MediaUpgradeRequest, QueueTicket } from '@usher/client/api-types';
import type { Medium } from './media.ts';
import { callMediaOf } from './call-media.ts';
import { FallbackReads } from './fallback-reads.ts';
import { Files } from './files.ts';
import { merge, messageOf, newsAmong, withDeleted, type Message, type Option } from './messages.ts';
import { Outbox, type Content, type Unsent } from './outbox.ts';
import { isPlace, type Place } from './place.ts';
import { watchPresence } from './presence.ts';
import { reasonOf } from './reasons.ts';
import type { Settings } from './settings.ts';
import { initialState, type State, type Upgrade } from './state.ts';
import type { Storage } from './storage.ts';
import type { Store } from './store.ts';
import { outcomeInWords, refusalInWords } from './texts.ts';
import { OperatorTyping, Typing, type TypingIndicator } from './typing.ts';
import type { Visitor } from './visitor.ts';

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

type MediaAsked = Pick<MediaUpgradeRequest, 'audio' | 'video'>;

/** What the visitor does and what comes of it. All that is to be shown is in the store. */
export class Conversation {
  readonly typing: Typing;
  readonly #parts: Parts;
  readonly #feed: Feed;
  readonly #reads: FallbackReads;
  readonly #outbox: Outbox;
  readonly #files: Files;
  #place: Place = { ticketId: null, engagementId: null };
  readonly #operatorTyping: OperatorTyping;
  /** Requests for a call in this engagement, newest first. */
  #upgrades: readonly Upgrade[] = [];

  constructor(parts: Parts) {
    this.#parts = parts;
    const { api, storage, store } = parts;
    this.typing = new Typing((typing) => this.#tellTyping(typing));
    this.#operatorTyping = new OperatorTyping((isOperatorTyping) => store.set({ isOperatorTyping }));
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
    this.#outbox = new Outbox({
      storage,
      changed: (unsent) => store.set({ unsent }),
      put: async (unsent, content) => this.#put(unsent, content),
    });
    this.#files = new Files(api, this.#outbox, (fileRules) => store.set({ fileRules }));
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
    const hasLeft = place === null || this.#parts.visitor.id === null;
    if (hasLeft) {
      if (this.#place.ticketId !== null || this.#place.engagementId !== null) this.#reset();
      return;
    }
    const isNew = place.ticketId !== this.#place.ticketId || place.engagementId !== this.#place.engagementId;
    this.#place = place;
    if (isNew) void this.#refresh().then(() => this.#follow());
  }

  async start(medium: Medium, name: string): Promise<void> {
    const { store, visitor } = this.#parts;
    const given = name.trim() === '' ? null : name.trim();
    const { open, staffed, opensAt } = store.value;
    store.set({ ...initialState, phase: 'starting', open, staffed, opensAt, isPanelOpen: true });
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
    const { ticketId } = this.#place;
    if (ticketId === null) return;
    await this.#try(async () => {
      await this.#parts.api
        .call('PATCH /queue_tickets/{ticket_id}', { path: { ticket_id: ticketId }, body: { action: 'cancel' } })
        .catch((error: unknown) => {
          // It has become something else meanwhile, which the feed tells.
          if (!(error instanceof ProblemError && error.code === 'ticket_ended')) throw error;
        });
      if (this.#parts.store.value.phase === 'waiting') this.#reset();
    });
  }

  send(content: string): void {
    this.typing.stop();
    if (this.#place.engagementId !== null) this.#outbox.add(this.#place.engagementId, { content });
  }

  choose({ text, value }: Option): void {
    if (this.#place.engagementId !== null) this.#outbox.add(this.#place.engagementId, { content: text, chosen: value });
  }

  attach(files: Iterable<File>): void {
    const { fileRules, phase } = this.#parts.store.value;
    const { engagementId } = this.#place;
    if (phase !== 'engaged' || fileRules === null || engagementId === null) return;
    for (const file of files) void this.#files.send(engagementId, file, fileRules);
  }

  async download(fileId: string, name: string): Promise<void> {
    await this.#try(async () => this.#files.save(this.#place.engagementId ?? '', fileId, name));
  }

  dismiss(id: string): void {
    this.#outbox.remove(id);
  }

  async end(): Promise<void> {
    const { engagementId } = this.#place;
    if (engagementId === null) return;
    await this.#try(async () => {
      const path = { engagement_id: engagementId };
      await this.#parts.api
        .call('PATCH /engagements/{engagement_id}', { path, body: { action: 'end' } })
        .catch((error: unknown) => {
          if (!(error instanceof ProblemError && error.code === 'engagement_ended')) throw error;
        });
      await this.#readEngagement(engagementId);
    });
  }

  /** Back to the beginning. */
  leave(): void {
    this.#reset();
  }

  async ask(media: MediaAsked): Promise<void> {
    const path = { engagement_id: this.#place.engagementId ?? '' };
    await this.#try(async () => {
      const asked = await this.#parts.api.call('POST /engagements/{engagement_id}/media_upgrade_requests', {
        path,
        body: media,
      });
      this.#takeUpgrade(asked);
    });
  }

  /** Whether it was accepted. */
  async answer(action: 'accept' | 'decline' | 'cancel'): Promise<boolean> {
    const { upgrade } = this.#parts.store.value;
    if (upgrade === null) return false;
    const path = { engagement_id: upgrade.engagement_id, upgrade_id: upgrade.id };
    let isAccepted = false;
    await this.#try(async () => {
      const operation = 'PATCH /engagements/{engagement_id}/media_upgrade_requests/{upgrade_id}';
      const answered = await this.#parts.api.call(operation, { path, body: { action } });
      this.#takeUpgrade(answered);
      isAccepted = answered.state === 'accepted';
    });
    return isAccepted;
  }

  open(): void {
    this.#parts.store.set({ isPanelOpen: true, unread: 0 });
    this.#feed.hurry();
  }

  close(): void {
    this.#parts.store.set({ isPanelOpen: false });
  }

  say(text: string | null): void {
    this.#parts.store.set({ notice: text === null ? null : { kind: 'problem', text } });
  }

  async #try(work: () => Promise<void>): Promise<void> {
    try {
      this.say(null);
      await work();
    } catch (error) {
      this.say(reasonOf(error));
    }
  }

  async #rename(name: string): Promise<void> {
    const { api, settings, visitor } = this.#parts;
    const path = { site_id: settings.site, visitor_id: visitor.id ?? '' };
    const body = { site_id: settings.site, name };
    await api.call('PATCH /sites/{site_id}/visitors/{visitor_id}', { path, body });
  }

  async #put({ id, engagementId }: Unsent, content: Content): Promise<void> {
    const path = { engagement_id: engagementId, message_id: id };
    const sent = await this.#parts.api.call('PUT /engagements/{engagement_id}/chat_messages/{message_id}', {
      path,
      body: content,
    });
    this.#show([messageOf(sent)]);
  }

  #follow(): void {
    if (this.#isUnderWay) this.#feed.start();
  }

  #stopFollowing(): void {
    this.#feed.stop();
    this.#reads.stop();
  }

  get #isUnderWay(): boolean {
    const { phase } = this.#parts.store.value;
    return phase === 'waiting' || phase === 'engaged';
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
    store.set({ phase: 'idle', notice: { kind: 'problem', text } });
  }

  /** Nobody knows this visitor any more. */
  #forget(): void {
    this.#parts.visitor.forget();
    this.#reset();
  }

  #reset(): void {
    const { storage, store } = this.#parts;
    this.#stopFollowing();
    this.#outbox.clear();
    this.#upgrades = [];
    storage.remove('place');
    this.#place = { ticketId: null, engagementId: null };
    const { open, opensAt, isPanelOpen } = store.value;
    store.set({ ...initialState, open, opensAt, isPanelOpen });
  }

  /** Everything as it is now. What follows on the feed is all that it will change by. Answers whether it could be read. */
  async #refresh(): Promise<boolean> {
    try {
      const { ticketId, engagementId } = this.#place;
      if (engagementId !== null) await this.#readEngagement(engagementId);
      else if (ticketId !== null)
        this.#takeTicket(
          await this.#parts.api.call('GET /queue_tickets/{ticket_id}', { path: { ticket_id: ticketId } }),
        );
      return true;
    } catch (error) {
      if (error instanceof ProblemError && [401, 403, 404].includes(error.status)) this.#forget();
      // Any other failure is one of the connection: the feed will be opened again, and this done once more.
      else this.#parts.store.set({ phase: this.#place.engagementId === null ? 'waiting' : 'engaged' });
      return false;
    }
  }

  async #readEngagement(id: string): Promise<void> {
    const { api, store } = this.#parts;
    const path = { engagement_id: id };
    const [engagement, messages, { media_upgrade_requests: upgrades }] = await Promise.all([
      api.call('GET /engagements/{engagement_id}', { path }),
      api.call('GET /engagements/{engagement_id}/chat_transcript', { path }),
      api.call('GET /engagements/{engagement_id}/media_upgrade_requests', { path }),
      this.#files.look(id),
    ]);
    if (engagement.ended_at !== null && Date.now() - Date.parse(engagement.ended_at) > rememberedMs)
      return this.#reset();
    this.#show(messages.map((message) => messageOf(message)));
    const known = store.value.engagement?.id === id ? store.value.engagement : null;
    const ofThis = this.#upgrades.filter(({ engagement_id }) => engagement_id === id);
    this.#upgrades = mergeUpgrades<Upgrade>(ofThis, upgrades);
    store.set({ upgrade: this.#upgrades.find(({ state }) => state === 'pending') ?? null });
    this.#takeEngagement(known !== null && isOutdated(engagement, known) ? known : engagement);
    this.#outbox.restore(id);
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
        return this.#show([messageOf((data as { message: Parameters<typeof messageOf>[0] }).message)]);
      case 'engagement.chat.typing_indicator.operator':
        return this.#operatorTyping.take((data as { typing_indicator: TypingIndicator }).typing_indicator);
      case 'engagement.media_upgrade_request': {
        type Asked = { media_upgrade_request: Omit<Upgrade, 'state'> };
        return this.#takeUpgrade({ ...(data as Asked).media_upgrade_request, state: 'pending' });
      }
      case 'media_upgrade_request.state':
        return this.#takeUpgrade(data as MediaUpgradeRequest);
      case 'file.state': {
        const { id, deleted } = data as SentFile;
        const { store } = this.#parts;
        return deleted ? store.set({ messages: withDeleted(store.value.messages, id) }) : undefined;
      }
      case 'engagement.files.security_scan_result': {
        type Scan = { security_scan_result: { file_id: string; result: 'clean' | 'infected' } };
        const { file_id: id, result } = (data as Scan).security_scan_result;
        return this.#outbox.scanned(id, result);
      }
      case 'engagement.signal':
        return this.#parts.onSignal(data);
      default:
    }
  }

  #takeTicket(ticket: QueueTicket): void {
    const { store } = this.#parts;
    if (ticket.id !== this.#place.ticketId || this.#place.engagementId !== null) return;
    if (ticket.state === 'engaged' && ticket.engagement_id !== null) {
      this.#settle({ ticketId: ticket.id, engagementId: ticket.engagement_id });
      void this.#refresh();
    } else if (ticket.state === 'waiting' || ticket.state === 'offered') store.set({ phase: 'waiting', ticket });
    else {
      this.#reset();
      store.set({ notice: { kind: 'info', text: outcomeInWords(ticket.state) } });
    }
  }

  #takeEngagement(engagement: Engagement): void {
    const { store } = this.#parts;
    if (engagement.id !== this.#place.engagementId) return;
    const isOver = engagement.state === 'ended';
    store.set({ engagement, callMedia: this.#callMediaOf(engagement), phase: isOver ? 'ended' : 'engaged' });
    if (!isOver) return;
    store.set({ upgrade: null, isOperatorTyping: false });
    this.#stopFollowing();
  }

  #show(more: readonly Message[]): void {
    const { store } = this.#parts;
    const { messages, phase, isPanelOpen, unread } = store.value;
    // What is read before the conversation is shown was there already.
    const news = phase === 'engaged' ? newsAmong(more, messages) : 0;
    const isSeen = isPanelOpen && document.visibilityState === 'visible';
    if (news > 0) store.set({ isOperatorTyping: false, unread: isSeen ? 0 : unread + news });
    store.set({ messages: merge(messages, more) });
    for (const message of more) {
      if (message.from === 'visitor') this.#outbox.remove(message.id);
      else if (message.status === 'sent') void this.#acknowledge(message);
    }
  }

  async #acknowledge({ id }: Message): Promise<void> {
    const path = { engagement_id: this.#place.engagementId ?? '', message_id: id };
    const operation = 'PATCH /engagements/{engagement_id}/chat_messages/{message_id}';
    // It is only for the other side's comfort.
    await this.#parts.api.call(operation, { path, body: { status: 'delivered' } }).catch(() => undefined);
  }

  #takeUpgrade(upgrade: Upgrade): void {
    const { store } = this.#parts;
    if (upgrade.engagement_id !== this.#place.engagementId) return;
    const isAnswered = this.#upgrades.some(({ id, state }) => id === upgrade.id && state !== 'pending');
    if (isAnswered) return;
    this.#upgrades = [upgrade, ...this.#upgrades.filter(({ id }) => id !== upgrade.id)];
    // That the engagement is a call now follows, or was told before.
    const { engagement } = store.value;
    if (upgrade.state === 'accepted' && engagement !== null) store.set({ callMedia: this.#callMediaOf(engagement) });
    if (upgrade.state === 'pending') store.set({ upgrade });
    else if (store.value.upgrade?.id === upgrade.id) {
      store.set({ upgrade: null });
      if (upgrade.state === 'declined' && upgrade.target === 'operator')
        store.set({ notice: { kind: 'info', text: 'This is not possible now. You can go on by chat.' } });
    }
  }

  #callMediaOf({ media }: Engagement): State['callMedia'] {
    const accepted = this.#upgrades.filter(({ state }) => state === 'accepted').toReversed();
    return callMediaOf(media, { accepted, pending: this.#parts.store.value.upgrade });
  }

  #tellTyping(typing: boolean): void {
    const { engagementId } = this.#place;
    if (engagementId === null || this.#parts.store.value.phase !== 'engaged') return;
    const path = { engagement_id: engagementId };
    const operation = 'PUT /engagements/{engagement_id}/typing_indicator';
    this.#parts.api.call(operation, { path, body: { typing } }).catch(() => undefined);
  }
}
