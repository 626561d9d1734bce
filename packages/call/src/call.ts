import { newId } from '@usher/client/new-id';
import type { CallView, EndReason } from './call-view.ts';
import { LocalMedia } from './local-media.ts';
import { sentBy, type Kind, type Media, type Side } from './media.ts';
import { watchNetwork } from './network.ts';
import { Outbox } from './outbox.ts';
import { Peer } from './peer.ts';
import type { Signal, SignalData } from './signal.ts';

export interface CallOptions {
  readonly side: Side;
  readonly media: Media;
  /** Posts a signal; resolves once it has been passed on. `keepalive`: the page is being left, and must not take it along. */
  readonly send: (signal: Signal, keepalive?: boolean) => Promise<unknown>;
  /** `GET /ice_servers`. Asked whenever a way to the other side is looked for. */
  readonly iceServers: () => Promise<RTCIceServer[]>;
  readonly patience?: Partial<typeof patience>;
}

/** A way to the other side that was not found by then is looked for once more, and so on. */
const retryMs = 3_000;
/** Many an interruption is over by itself. */
const hiccupMs = 1_500;
/** For how long one goes on trying. On the other side somebody may be looking for the button that allows the microphone. */
const patience = { connectMs: 120_000, reconnectMs: 60_000 };
/** So many attempts on the same connection, then a new one. */
const triesBeforeAnew = 4;

/**
 * Signals may be lost, and pages are reloaded; so the rules are few, and each may be followed again at any time:
 *
 * - The operator alone offers, so that offers never cross. The visitor who wants one says `ready`.
 * - Each end of the connection has an id, `call_id`. Who meets a new one begins from scratch with it.
 * - Who is not connected says or does so again every few seconds.
 */
export class Call {
  readonly #options: CallOptions;
  readonly #outbox: Outbox;
  readonly #local = new LocalMedia((kind) => void this.#replace(kind));
  readonly #listeners = new Set<() => void>();
  readonly #stops: (() => void)[] = [];
  #view: CallView;
  /** Our end. */
  #me = '';
  /** The other one, once it has been heard of. */
  #other: string | null = null;
  #peer: Peer | null = null;
  /** One thing after the other: signals in the order they came, and what we do by ourselves. */
  #work: Promise<void> = Promise.resolve();
  #tries = 0;
  #offeredAt = 0;
  #waitingSince = 0;

  constructor(options: CallOptions) {
    this.#options = options;
    this.#outbox = new Outbox(async (signal) => options.send(signal));
    this.#view = {
      state: { name: 'idle' },
      media: options.media,
      local: this.#local.stream,
      remote: new MediaStream(),
      microphone: false,
      camera: false,
      other: { microphone: true, camera: true, isGone: false },
      problems: [],
    };
  }

  get view(): CallView {
    return this.#view;
  }

  /** Calls `changed` after every change of the view; answers how to stop that. */
  subscribe = (changed: () => void): (() => void) => {
    this.#listeners.add(changed);
    return () => this.#listeners.delete(changed);
  };

  /**
   * To be called by a click: only then do some browsers play sound and ask for the microphone. `kinds`: the devices that the click
   * is for, all that are sent unless it is said.
   */
  async start(kinds: readonly Kind[] = this.#sent()): Promise<void> {
    if (this.#view.state.name !== 'idle') return;
    this.#local.awaitClick(this.#sent().filter((kind) => !kinds.includes(kind)));
    this.#me = newId();
    this.#show({ state: { name: 'preparing' } });
    await this.#local.take(this.#sent().filter((kind) => kinds.includes(kind)));
    if (this.#ended) return this.#letGo();
    // While somebody was looking for the button that allows it, something else may have been agreed on.
    this.#local.keepOnly(this.#sent());
    this.#showLocal();
    this.#wait('connecting');
    this.#watch();
    this.#do(async () => this.#push());
  }

  /** What the feed brought as `engagement.signal`. */
  receive(signal: Signal): void {
    if (this.#ended || this.#view.state.name === 'idle') return;
    this.#do(async () => this.#take(signal, signal.data ?? {}));
  }

  /** Signals may have been missed, or the way to the other side has changed: the feed was opened again, another network. */
  resync = (): void => {
    if (this.#isUnderWay) this.#do(async () => this.#again());
  };

  /** After a media upgrade. Both sides call it, in any order. What more is to be sent waits for a click: see `startDevices`. */
  change(media: Media): void {
    if (this.#ended) return;
    const before = this.#sent();
    this.#show({ media });
    if (this.#view.state.name === 'idle') return;
    this.#local.awaitClick(this.#sent().filter((kind) => !before.includes(kind)));
    if (!this.#isUnderWay) return;
    this.#local.keepOnly(this.#sent());
    this.#showLocal();
    this.#do(async () => {
      await this.#peer?.arrange(this.#view.media);
      this.#again();
    });
  }

  /** Devices that are to be sent since both sides agreed on more, and that nobody has started or turned off yet. */
  get awaitsClick(): readonly Kind[] {
    return this.#local.awaitsClick;
  }

  /** To be called by a click by which somebody agrees to be heard or seen. */
  async startDevices(kinds: readonly Kind[] = this.awaitsClick): Promise<void> {
    if (this.#ended || this.#view.state.name === 'idle') return;
    await this.#local.take(kinds);
    for (const kind of kinds) await this.#replace(kind);
  }

  /** Mutes, and unmutes; where there was no microphone, asks for one again. */
  async setMicrophone(on: boolean): Promise<void> {
    if (on && this.#local.track('audio') === null) return this.#reacquire('audio');
    const track = this.#local.track('audio');
    if (track !== null) track.enabled = on;
    this.#showLocal();
  }

  /** A camera that is off is let go of. */
  async setCamera(on: boolean): Promise<void> {
    if (on) return this.#reacquire('video');
    this.#local.turnOff('video');
    await this.#replace('video');
  }

  async chooseMicrophone(id: string): Promise<void> {
    return this.#choose('audio', id);
  }

  async chooseCamera(id: string): Promise<void> {
    return this.#choose('video', id);
  }

  hangUp(): void {
    if (this.#isUnderWay) this.#post('hangup');
    this.#end('hung_up');
  }

  /**
   * The page is being closed or reloaded. The other side is told at once, ahead of the signals that still wait: without that it
   * would notice only when packets stop, many seconds later. After a reload one may join again.
   */
  readonly #leave = (): void => {
    const data = { to: this.#other, left: true };
    void this.#options.send({ call_id: this.#me, kind: 'hangup', data }, true).catch(() => undefined);
    this.#end('closed');
  };

  /** Ends it here without a word. */
  close(): void {
    this.#end('closed');
  }

  async stats(): Promise<RTCStatsReport | null> {
    return this.#peer?.stats() ?? null;
  }

  get #ended(): boolean {
    return this.#view.state.name === 'ended';
  }

  get #isUnderWay(): boolean {
    return ['connecting', 'connected', 'reconnecting'].includes(this.#view.state.name);
  }

  get #isOperator(): boolean {
    return this.#options.side === 'operator';
  }

  #sent(): readonly Kind[] {
    return sentBy(this.#options.side, this.#view.media);
  }

  #show(changes: Partial<CallView>): void {
    this.#view = { ...this.#view, ...changes };
    for (const changed of this.#listeners) changed();
  }

  #showLocal(): void {
    const microphone = this.#local.track('audio')?.enabled ?? false;
    const camera = this.#local.track('video') !== null;
    this.#show({ microphone, camera, problems: this.#local.problems });
    this.#tellState();
  }

  #tellState(): void {
    const { microphone, camera, state } = this.#view;
    if (state.name === 'connected') this.#post('state', { microphone, camera });
  }

  #post(kind: Signal['kind'], data: SignalData = {}): void {
    this.#outbox.post({ call_id: this.#me, kind, data: { to: this.#other, ...data } });
  }

  /** What fails is tried again, by us or because the other side asks; there is nothing else to be done about it. */
  #do(work: () => Promise<void>): void {
    this.#work = this.#work.then(async () => (this.#ended ? undefined : work())).catch(() => undefined);
  }

  #watch(): void {
    const timer = setInterval(() => this.#tick(), retryMs);
    this.#stops.push(() => clearInterval(timer));
    this.#stops.push(watchNetwork(this.resync));
    window.addEventListener('pagehide', this.#leave);
    this.#stops.push(() => window.removeEventListener('pagehide', this.#leave));
  }

  #tick(): void {
    const { name } = this.#view.state;
    if (name === 'connected') {
      if (this.#peer?.awaitsAnswer === true && this.#isStale) this.#peer.offerAgain();
      return;
    }
    const { connectMs, reconnectMs } = { ...patience, ...this.#options.patience };
    const waited = performance.now() - this.#waitingSince;
    if (waited < (name === 'connecting' ? connectMs : reconnectMs)) return this.#do(async () => this.#push());
    this.#post('hangup');
    this.#end(name === 'connecting' ? 'unanswered' : 'lost');
  }

  get #isStale(): boolean {
    return performance.now() - this.#offeredAt > retryMs * 0.8;
  }

  /** Towards being connected: the next thing that may help. */
  async #push(): Promise<void> {
    if (!this.#isUnderWay) return;
    if (!this.#isOperator || this.#other === null) {
      if (this.#outbox.isEmpty) this.#post('ready');
      return;
    }
    this.#tries += 1;
    if (this.#peer === null || this.#tries % triesBeforeAnew === 0) await this.#connectAnew();
    else if (this.#peer.awaitsAnswer) this.#peer.offerAgain();
    else if (this.#peer.isBroken) await this.#peer.restart();
  }

  /** Offers again, or asks for it. */
  #again(): void {
    if (this.#isOperator) void this.#peer?.restart();
    else this.#post('ready', { again: true });
  }

  async #take({ call_id: from, kind }: Signal, data: SignalData): Promise<void> {
    const isKnown = from === this.#other;
    if (kind === 'ready') return this.#takeReady(from, data.again === true);
    if (kind === 'hangup' && !isKnown && data.to !== this.#me) return;
    if (kind === 'hangup') return data.left === true ? this.#lose() : this.#end('other_hung_up');
    // Meant for a page that is gone.
    if (data.to !== this.#me) return;
    if (kind === 'description' && !this.#isOperator) return this.#takeOffer(from, data);
    if (!isKnown || this.#peer === null) return;
    if (kind === 'description') await this.#peer.takeAnswer(data);
    if (kind === 'candidate') await this.#peer.takeCandidates(data);
    if (kind !== 'state') return;
    this.#show({ other: { microphone: data.microphone === true, camera: data.camera === true, isGone: false } });
  }

  /** The other side has left its page. If it comes back, it has a new `call_id` and says that it is ready. */
  #lose(): void {
    this.#peer?.close();
    this.#peer = null;
    this.#other = null;
    this.#show({ other: { ...this.#view.other, isGone: true } });
    if (this.#view.state.name === 'connected') this.#wait('reconnecting');
  }

  async #takeReady(from: string, again: boolean): Promise<void> {
    const isNew = from !== this.#other;
    this.#other = from;
    if (!this.#isUnderWay) return;
    if (isNew && this.#view.state.name === 'connected') this.#wait('reconnecting');
    if (!this.#isOperator) return this.#post('ready');
    if (isNew) return this.#connectAnew();
    if (again) return this.#peer?.restart();
    // It does not hear us, whatever we think. What we have just said may be on its way.
    if (this.#isStale && this.#view.state.name === 'connected') await this.#peer?.restart();
    else if (this.#isStale) await this.#push();
  }

  async #takeOffer(from: string, offer: SignalData): Promise<void> {
    this.#other = from;
    if (!this.#isUnderWay) return;
    if (this.#peer?.of !== from) await this.#open(from);
    await this.#peer?.takeOffer(offer, this.#view.media);
  }

  /** The operator's: from scratch, under a new id, so that the other side does the same. */
  async #connectAnew(): Promise<void> {
    if (this.#other === null) return;
    this.#me = newId();
    await this.#open(this.#other);
    await this.#peer?.arrange(this.#view.media);
  }

  async #open(of: string): Promise<void> {
    this.#peer?.close();
    for (const track of this.#view.remote.getTracks()) this.#view.remote.removeTrack(track);
    const { side, iceServers } = this.#options;
    const peer = await Peer.open({
      of,
      side,
      iceServers,
      local: this.#local,
      remote: this.#view.remote,
      post: (kind, data) => {
        if (this.#peer !== peer) return;
        if (kind === 'description') this.#offeredAt = performance.now();
        this.#post(kind, data);
      },
      onState: (state) => {
        if (this.#peer === peer) this.#follow(state);
      },
    });
    this.#peer = peer;
    if (this.#ended) this.#letGo();
  }

  #follow(state: RTCPeerConnectionState): void {
    const { name } = this.#view.state;
    if (state === 'connected' && this.#isUnderWay && name !== 'connected') {
      this.#tries = 0;
      this.#show({ state: { name: 'connected', since: Date.now() }, other: { ...this.#view.other, isGone: false } });
      this.#tellState();
    }
    if (state !== 'disconnected' && state !== 'failed') return;
    if (name === 'connected') this.#wait('reconnecting');
    const timer = setTimeout(() => this.#ifBroken(), state === 'failed' ? 0 : hiccupMs);
    this.#stops.push(() => clearTimeout(timer));
  }

  #ifBroken(): void {
    if (this.#peer?.isBroken === true) this.#do(async () => this.#push());
  }

  #wait(name: 'connecting' | 'reconnecting'): void {
    this.#waitingSince = performance.now();
    this.#show({ state: name === 'connecting' ? { name } : { name, since: Date.now() } });
  }

  async #reacquire(kind: Kind): Promise<void> {
    if (this.#ended || !this.#sent().includes(kind)) return;
    await this.#local.take([kind]);
    await this.#replace(kind);
  }

  async #choose(kind: Kind, id: string): Promise<void> {
    if (this.#ended) return;
    if (await this.#local.choose(kind, id, this.#sent().includes(kind))) await this.#replace(kind);
  }

  async #replace(kind: Kind): Promise<void> {
    if (this.#ended) return this.#letGo();
    await this.#peer?.replace(kind);
    this.#showLocal();
  }

  #end(reason: EndReason): void {
    if (this.#ended) return;
    this.#letGo();
    this.#show({ state: { name: 'ended', reason }, microphone: false, camera: false });
  }

  #letGo(): void {
    for (const stop of this.#stops.splice(0)) stop();
    this.#peer?.close();
    this.#peer = null;
    for (const kind of ['audio', 'video'] as const) this.#local.drop(kind);
  }
}
