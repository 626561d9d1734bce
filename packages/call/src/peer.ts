import type { LocalMedia } from './local-media.ts';
import { hasKind, sends, type Kind, type Media, type Side } from './media.ts';
import type { Signal, SignalData } from './signal.ts';

interface PeerOptions {
  /** The `call_id` of the other end. */
  readonly remoteId: string;
  readonly side: Side;
  readonly local: LocalMedia;
  readonly remote: MediaStream;
  readonly iceServers: () => Promise<RTCIceServer[]>;
  readonly post: (kind: Signal['kind'], data: SignalData) => void;
  readonly onState: (state: RTCPeerConnectionState) => void;
}

/** ICE candidates are found in bursts. Those found within this time go in one signal. */
const batchMs = 50;

/** One `RTCPeerConnection` with one end on the other side. The operator's side offers, the visitor's side answers. */
export class Peer {
  readonly remoteId: string;
  readonly #options: PeerOptions;
  readonly #connection: RTCPeerConnection;
  /** The number of the last offer that was made or answered. */
  #offerNumber = 0;
  #candidates: RTCIceCandidateInit[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;

  static async open(options: PeerOptions): Promise<Peer> {
    // Without ICE servers a call may still connect within one network.
    return new Peer(options, await options.iceServers().catch(() => []));
  }

  private constructor(options: PeerOptions, iceServers: RTCIceServer[]) {
    this.remoteId = options.remoteId;
    this.#options = options;
    const connection = new RTCPeerConnection({ iceServers });
    this.#connection = connection;
    connection.ontrack = ({ track }) => options.remote.addTrack(track);
    connection.onconnectionstatechange = () => options.onState(connection.connectionState);
    connection.onicecandidate = ({ candidate }) => this.#batchCandidate(candidate);
    if (options.side === 'operator') connection.onnegotiationneeded = () => void this.#offer().catch(() => undefined);
  }

  get awaitsAnswer(): boolean {
    return this.#connection.signalingState === 'have-local-offer';
  }

  /** The connection failed, was interrupted or was closed. */
  get isBroken(): boolean {
    return ['disconnected', 'failed', 'closed'].includes(this.#connection.connectionState);
  }

  /**
   * Sets up the transceivers for the media of the call. The operator adds one for each kind; the visitor finds them in the offer.
   * A transceiver without a track is kept, so that a microphone that starts later needs no new offer.
   */
  async setMedia(media: Media): Promise<void> {
    const { side, local } = this.#options;
    for (const kind of ['audio', 'video'] as const) {
      let transceiver = this.#transceiverOf(kind);
      if (transceiver === undefined && side === 'operator' && hasKind(media, kind))
        transceiver = this.#connection.addTransceiver(kind, { streams: [local.stream] });
      if (transceiver === undefined) continue;
      transceiver.direction = directionOf(side, media, kind);
      if (side === 'visitor') transceiver.sender.setStreams(local.stream);
      await this.replaceTrack(kind);
    }
  }

  async replaceTrack(kind: Kind): Promise<void> {
    await this.#transceiverOf(kind)?.sender.replaceTrack(this.#options.local.track(kind));
  }

  /** Restarts ICE, on the operator's side only. The browser then fires `negotiationneeded`, which makes the offer. */
  async restart(): Promise<void> {
    if (await this.#refreshIceServers()) this.#connection.restartIce();
  }

  /** Reads the ICE servers again before a restart: TURN credentials may have expired. Returns whether the connection is open. */
  async #refreshIceServers(): Promise<boolean> {
    const iceServers = await this.#options.iceServers().catch(() => null);
    if (this.#connection.signalingState === 'closed') return false;
    if (iceServers !== null) this.#connection.setConfiguration({ iceServers });
    return true;
  }

  resendOffer(): void {
    this.#sendDescription();
  }

  async takeOffer(offer: SignalData, media: Media): Promise<void> {
    const { number = 0, sdp = '' } = offer;
    // The same offer again means that our answer was lost.
    if (number === this.#offerNumber) return this.#sendDescription();
    if (this.#isRestart(sdp) && !(await this.#refreshIceServers())) return;
    await this.#connection.setRemoteDescription({ type: 'offer', sdp });
    await this.setMedia(media);
    await this.#connection.setLocalDescription();
    this.#offerNumber = number;
    this.#sendDescription();
  }

  /** An offer with another ICE user name is an ICE restart (RFC 8839): the answer gathers our candidates again. */
  #isRestart(sdp: string): boolean {
    const { remoteDescription: current } = this.#connection;
    return current !== null && iceUserOf(current.sdp) !== iceUserOf(sdp);
  }

  async takeAnswer({ number, sdp = '' }: SignalData): Promise<void> {
    if (this.awaitsAnswer && number === this.#offerNumber)
      await this.#connection.setRemoteDescription({ type: 'answer', sdp });
  }

  /** The browser refuses candidates of an earlier attempt; that failure is harmless. */
  async takeCandidates({ candidates = [] }: SignalData): Promise<void> {
    for (const candidate of candidates) await this.#connection.addIceCandidate(candidate).catch(() => undefined);
  }

  async stats(): Promise<RTCStatsReport> {
    return this.#connection.getStats();
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#connection.close();
  }

  async #offer(): Promise<void> {
    if (this.#connection.signalingState !== 'stable') return;
    await this.#connection.setLocalDescription();
    this.#offerNumber += 1;
    this.#sendDescription();
  }

  /** Sends our current description. Sent again, it also contains the candidates found since. */
  #sendDescription(): void {
    const { localDescription: description } = this.#connection;
    if (description === null) return;
    this.#options.post('description', { number: this.#offerNumber, type: description.type, sdp: description.sdp });
  }

  #batchCandidate(candidate: RTCIceCandidate | null): void {
    if (candidate === null) return;
    this.#candidates.push(candidate.toJSON());
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#options.post('candidate', { candidates: this.#candidates.splice(0) });
    }, batchMs);
  }

  #transceiverOf(kind: Kind): RTCRtpTransceiver | undefined {
    return this.#connection.getTransceivers().find(({ receiver }) => receiver.track.kind === kind);
  }
}

function iceUserOf(sdp: string): string | undefined {
  return /^a=ice-ufrag:(\S+)/m.exec(sdp)?.[1];
}

function directionOf(side: Side, media: Media, kind: Kind): RTCRtpTransceiverDirection {
  const other = side === 'operator' ? 'visitor' : 'operator';
  const [isSending, isReceiving] = [sends(side, media, kind), sends(other, media, kind)];
  if (isSending) return isReceiving ? 'sendrecv' : 'sendonly';
  return isReceiving ? 'recvonly' : 'inactive';
}
