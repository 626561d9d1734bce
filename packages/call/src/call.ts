import { newId } from '@usher/sdk/new-id';
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
  /** Posts a signal and resolves when the server has passed it on. `keepalive`: the request must outlive the page. */
  readonly send: (signal: Signal, keepalive?: boolean) => Promise<unknown>;
  /** `GET /ice_servers`. Called before each connection and each ICE restart. */
  readonly iceServers: () => Promise<RTCIceServer[]>;
  readonly timeouts?: Partial<typeof defaultTimeouts>;
}

/** While not connected, the next step is tried at this interval. */
const retryMs = 3_000;
/** Many interruptions end by themselves within this time. */
const interruptionMs = 1_500;
/** When to give up. Connecting takes long if somebody on the other side is still looking for the button that allows the microphone. */
const defaultTimeouts = { connectMs: 120_000, reconnectMs: 60_000 };
/** After this many attempts on one connection, a new connection is made. */
const triesPerConnection = 4;

/**
 * One side of a call. Signals may be lost and pages may be reloaded, so the protocol has three rules, and each step can be repeated
 * at any time:
 *
 * - Only the operator's side offers, so that offers never cross. The visitor's side asks for an offer with `ready`.
 * - Each end of the connection has an id, `call_id`. A side that receives a new `call_id` starts a new connection with it.
 * - A side that is not connected repeats its last step every few seconds.
 */
export class Call {
  readonly #options: CallOptions;
  readonly #outbox: Outbox;
  readonly #local = new LocalMedia((kind) => void this.#replaceTrack(kind));
  readonly #listeners = new Set<() => void>();
  readonly #stops: (() => void)[] = [];
  #view: CallView;
  /** The `call_id` of our end. */
  #localId = '';
  /** The `call_id` of the other end; `null` until its first signal. */
  #remoteId: string | null = null;
  #peer: Peer | null = null;
  /** The tail of a queue: signals, in the order they came, and our own steps run one at a time. */
  #queue: Promise<void> = Promise.resolve();
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

  /** Calls `changed` after every change of the view. Returns the function that unsubscribes. */
  subscribe = (changed: () => void): (() => void) => {
    this.#listeners.add(changed);
    return () => this.#listeners.delete(changed);
  };

  /**
   * Call this from a click handler: otherwise some browsers neither play sound nor ask for the microphone. `kinds`: the devices that
   * the click may start; by default all that this side sends.
   */
  async start(kinds: readonly Kind[] = this.#sent()): Promise<void> {
    if (this.#view.state.name !== 'idle') return;
    this.#local.awaitClick(this.#sent().filter((kind) => !kinds.includes(kind)));
    this.#localId = newId();
    this.#show({ state: { name: 'preparing' } });
    await this.#local.acquire(this.#sent().filter((kind) => kinds.includes(kind)));
    if (this.#ended) return this.#release();
    // The media may have changed while the browser asked for permission.
    this.#local.keepOnly(this.#sent());
    this.#showLocal();
    this.#awaitConnection('connecting');
    this.#watch();
    this.#enqueue(async () => this.#advance());
  }

  /** Handles an `engagement.signal` item of the feed. */
  receive(signal: Signal): void {
    if (this.#ended || this.#view.state.name === 'idle') return;
    this.#enqueue(async () => this.#handleSignal(signal, signal.data ?? {}));
  }

  /** Call this when the feed was reopened (signals may have been lost) or the network changed (the route may have changed). */
  resync = (): void => {
    if (this.#isUnderWay) this.#enqueue(async () => this.#renegotiate());
  };

  /** Applies a media upgrade. Both sides call it, in any order. Additional devices wait for a click: see `startDevices`. */
  change(media: Media): void {
    if (this.#ended) return;
    const before = this.#sent();
    this.#show({ media });
    if (this.#view.state.name === 'idle') return;
    this.#local.awaitClick(this.#sent().filter((kind) => !before.includes(kind)));
    if (!this.#isUnderWay) return;
    this.#local.keepOnly(this.#sent());
    this.#showLocal();
    this.#enqueue(async () => {
      await this.#peer?.setMedia(this.#view.media);
      this.#renegotiate();
    });
  }

  /** The kinds that an upgrade added, and whose device the user has neither started nor turned off yet. */
  get awaitsClick(): readonly Kind[] {
    return this.#local.awaitsClick;
  }

  /** Call this from the click with which the user agrees to use their microphone or camera. */
  async startDevices(kinds: readonly Kind[] = this.awaitsClick): Promise<void> {
    if (this.#ended || this.#view.state.name === 'idle') return;
    await this.#local.acquire(kinds);
    for (const kind of kinds) await this.#replaceTrack(kind);
  }

  /** Mutes or unmutes. Without a microphone, unmuting asks the browser for one again. */
  async setMicrophone(on: boolean): Promise<void> {
    if (on && this.#local.track('audio') === null) return this.#reacquire('audio');
    const track = this.#local.track('audio');
    if (track !== null) track.enabled = on;
    this.#showLocal();
  }

  /** Turning the camera off releases the device. */
  async setCamera(on: boolean): Promise<void> {
    if (on) return this.#reacquire('video');
    this.#local.turnOff('video');
    await this.#replaceTrack('video');
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
   * Runs when the page is closed or reloaded. Tells the other side at once, ahead of the signals in the outbox: otherwise the other
   * side would notice many seconds later, when packets stop. After a reload the user may join again.
   */
  readonly #leave = (): void => {
    const data = { to: this.#remoteId, left: true };
    void this.#options.send({ call_id: this.#localId, kind: 'hangup', data }, true).catch(() => undefined);
    this.#end('closed');
  };

  /** Ends the call in this page without telling the other side. */
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
    this.#sendState();
  }

  /** Tells the other side which devices are on. Repeated whenever the other side may have missed signals. */
  #sendState(): void {
    const { microphone, camera, state } = this.#view;
    if (state.name === 'connected') this.#post('state', { microphone, camera });
  }

  #post(kind: Signal['kind'], data: SignalData = {}): void {
    this.#outbox.post({ call_id: this.#localId, kind, data: { to: this.#remoteId, ...data } });
  }

  /** Failures are ignored: our timer, or the other side's `ready`, repeats the step. */
  #enqueue(work: () => Promise<void>): void {
    this.#queue = this.#queue.then(async () => (this.#ended ? undefined : work())).catch(() => undefined);
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
      if (this.#peer?.awaitsAnswer === true && this.#isOfferStale) this.#peer.resendOffer();
      return;
    }
    const { connectMs, reconnectMs } = { ...defaultTimeouts, ...this.#options.timeouts };
    const waited = performance.now() - this.#waitingSince;
    if (waited < (name === 'connecting' ? connectMs : reconnectMs)) return this.#enqueue(async () => this.#advance());
    this.#post('hangup');
    this.#end(name === 'connecting' ? 'unanswered' : 'lost');
  }

  get #isOfferStale(): boolean {
    return performance.now() - this.#offeredAt > retryMs * 0.8;
  }

  /** Takes the next step towards a connection. */
  async #advance(): Promise<void> {
    if (!this.#isUnderWay) return;
    if (!this.#isOperator || this.#remoteId === null) {
      if (this.#outbox.isEmpty) this.#post('ready');
      return;
    }
    this.#tries += 1;
    if (this.#peer === null || this.#tries % triesPerConnection === 0) await this.#reconnect();
    else if (this.#peer.awaitsAnswer) this.#peer.resendOffer();
    else if (this.#peer.isBroken) await this.#peer.restart();
  }

  /** Makes a new offer, or asks the operator's side for one. The other side may have missed the state of our devices. */
  #renegotiate(): void {
    this.#sendState();
    if (this.#isOperator) void this.#peer?.restart();
    else this.#post('ready', { again: true });
  }

  async #handleSignal({ call_id: from, kind }: Signal, data: SignalData): Promise<void> {
    const isCurrent = from === this.#remoteId;
    if (kind === 'ready') return this.#handleReady(from, data.again === true);
    if (kind === 'hangup' && !isCurrent && data.to !== this.#localId) return;
    if (kind === 'hangup') return data.left === true ? this.#handleLeft() : this.#end('other_hung_up');
    // The signal is for an earlier page of ours.
    if (data.to !== this.#localId) return;
    if (kind === 'description' && !this.#isOperator) return this.#handleOffer(from, data);
    if (!isCurrent || this.#peer === null) return;
    if (kind === 'description') await this.#peer.takeAnswer(data);
    if (kind === 'candidate') await this.#peer.takeCandidates(data);
    if (kind !== 'state') return;
    this.#show({ other: { microphone: data.microphone === true, camera: data.camera === true, isGone: false } });
  }

  /** The other side left its page. If it comes back, it sends `ready` with a new `call_id`. */
  #handleLeft(): void {
    this.#peer?.close();
    this.#peer = null;
    this.#remoteId = null;
    this.#show({ other: { ...this.#view.other, isGone: true } });
    if (this.#view.state.name === 'connected') this.#awaitConnection('reconnecting');
  }

  async #handleReady(from: string, again: boolean): Promise<void> {
    const isNew = from !== this.#remoteId;
    this.#remoteId = from;
    if (!this.#isUnderWay) return;
    if (isNew && this.#view.state.name === 'connected') this.#awaitConnection('reconnecting');
    this.#sendState();
    if (!this.#isOperator) return this.#post('ready');
    if (isNew) return this.#reconnect();
    if (again) return this.#peer?.restart();
    // `ready` means that the other side is not connected, whatever our state says. A recent offer may still be on its way.
    if (this.#isOfferStale && this.#view.state.name === 'connected') await this.#peer?.restart();
    else if (this.#isOfferStale) await this.#advance();
  }

  async #handleOffer(from: string, offer: SignalData): Promise<void> {
    this.#remoteId = from;
    if (!this.#isUnderWay) return;
    if (this.#peer?.remoteId !== from) await this.#open(from);
    await this.#peer?.takeOffer(offer, this.#view.media);
    this.#sendState();
  }

  /** Starts a new connection, on the operator's side only. The new `call_id` makes the other side do the same. */
  async #reconnect(): Promise<void> {
    if (this.#remoteId === null) return;
    this.#localId = newId();
    await this.#open(this.#remoteId);
    await this.#peer?.setMedia(this.#view.media);
  }

  async #open(remoteId: string): Promise<void> {
    this.#peer?.close();
    for (const track of this.#view.remote.getTracks()) this.#view.remote.removeTrack(track);
    const { side, iceServers } = this.#options;
    const peer = await Peer.open({
      remoteId,
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
        if (this.#peer === peer) this.#handleConnectionState(state);
      },
    });
    this.#peer = peer;
    if (this.#ended) this.#release();
  }

  #handleConnectionState(state: RTCPeerConnectionState): void {
    const { name } = this.#view.state;
    if (state === 'connected' && this.#isUnderWay && name !== 'connected') {
      this.#tries = 0;
      this.#show({ state: { name: 'connected', since: Date.now() }, other: { ...this.#view.other, isGone: false } });
      this.#sendState();
    }
    if (state !== 'disconnected' && state !== 'failed') return;
    if (name === 'connected') this.#awaitConnection('reconnecting');
    const timer = setTimeout(() => this.#advanceIfBroken(), state === 'failed' ? 0 : interruptionMs);
    this.#stops.push(() => clearTimeout(timer));
  }

  #advanceIfBroken(): void {
    if (this.#peer?.isBroken === true) this.#enqueue(async () => this.#advance());
  }

  #awaitConnection(name: 'connecting' | 'reconnecting'): void {
    this.#waitingSince = performance.now();
    this.#show({ state: name === 'connecting' ? { name } : { name, since: Date.now() } });
  }

  async #reacquire(kind: Kind): Promise<void> {
    if (this.#ended || !this.#sent().includes(kind)) return;
    await this.#local.acquire([kind]);
    await this.#replaceTrack(kind);
  }

  async #choose(kind: Kind, id: string): Promise<void> {
    if (this.#ended) return;
    if (await this.#local.choose(kind, id, this.#sent().includes(kind))) await this.#replaceTrack(kind);
  }

  async #replaceTrack(kind: Kind): Promise<void> {
    if (this.#ended) return this.#release();
    await this.#peer?.replaceTrack(kind);
    this.#showLocal();
  }

  #end(reason: EndReason): void {
    if (this.#ended) return;
    this.#release();
    this.#show({ state: { name: 'ended', reason }, microphone: false, camera: false });
  }

  #release(): void {
    for (const stop of this.#stops.splice(0)) stop();
    this.#peer?.close();
    this.#peer = null;
    for (const kind of ['audio', 'video'] as const) this.#local.release(kind);
  }
}
