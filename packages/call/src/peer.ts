import type { LocalMedia } from './local-media.ts';
import { isWanted, sends, type Kind, type Media, type Side } from './media.ts';
import type { Signal, SignalData } from './signal.ts';

interface PeerParts {
  /** The end of the connection on the other side. */
  readonly of: string;
  readonly side: Side;
  readonly local: LocalMedia;
  readonly remote: MediaStream;
  readonly iceServers: () => Promise<RTCIceServer[]>;
  readonly post: (kind: Signal['kind'], data: SignalData) => void;
  readonly onState: (state: RTCPeerConnectionState) => void;
}

/** Addresses are found in bursts; those of so long go in one signal. */
const gatherMs = 50;

/** One connection with one end on the other side. The operator's offers, the visitor's answers. */
export class Peer {
  readonly of: string;
  readonly #parts: PeerParts;
  readonly #connection: RTCPeerConnection;
  /** Of the last offer made, or answered. */
  #number = 0;
  #candidates: RTCIceCandidateInit[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;

  static async open(parts: PeerParts): Promise<Peer> {
    // Without, it may still work on one network.
    return new Peer(parts, await parts.iceServers().catch(() => []));
  }

  private constructor(parts: PeerParts, iceServers: RTCIceServer[]) {
    this.of = parts.of;
    this.#parts = parts;
    const connection = new RTCPeerConnection({ iceServers });
    this.#connection = connection;
    connection.ontrack = ({ track }) => parts.remote.addTrack(track);
    connection.onconnectionstatechange = () => parts.onState(connection.connectionState);
    connection.onicecandidate = ({ candidate }) => this.#gather(candidate);
    if (parts.side === 'operator') connection.onnegotiationneeded = () => void this.#offer().catch(() => undefined);
  }

  get awaitsAnswer(): boolean {
    return this.#connection.signalingState === 'have-local-offer';
  }

  /** It was connected, or tried to be, and is not. */
  get isBroken(): boolean {
    return ['disconnected', 'failed', 'closed'].includes(this.#connection.connectionState);
  }

  /**
   * Has what is wanted sent, as soon as the sides agree on it. The operator makes a place for each kind; the visitor finds
   * them in the offer. A place without a track is kept: a microphone may come later, and needs no new offer then.
   */
  async arrange(media: Media): Promise<void> {
    const { side, local } = this.#parts;
    for (const kind of ['audio', 'video'] as const) {
      let place = this.#placeOf(kind);
      if (place === undefined && side === 'operator' && isWanted(media, kind))
        place = this.#connection.addTransceiver(kind, { streams: [local.stream] });
      if (place === undefined) continue;
      place.direction = directionOf(side, media, kind);
      if (side === 'visitor') place.sender.setStreams(local.stream);
      await this.replace(kind);
    }
  }

  async replace(kind: Kind): Promise<void> {
    await this.#placeOf(kind)?.sender.replaceTrack(this.#parts.local.track(kind));
  }

  /** The operator's. The offer follows by itself, once it can be made. */
  async restart(): Promise<void> {
    if (await this.#refresh()) this.#connection.restartIce();
  }

  /** Before a way is looked for anew: what relays were to be used with may have expired. Whether the connection is still open. */
  async #refresh(): Promise<boolean> {
    const iceServers = await this.#parts.iceServers().catch(() => null);
    if (this.#connection.signalingState === 'closed') return false;
    if (iceServers !== null) this.#connection.setConfiguration({ iceServers });
    return true;
  }

  offerAgain(): void {
    this.#describe();
  }

  async takeOffer(offer: SignalData, media: Media): Promise<void> {
    const { number = 0, sdp = '' } = offer;
    // It has not heard our answer.
    if (number === this.#number) return this.#describe();
    if (this.#isRestart(sdp) && !(await this.#refresh())) return;
    await this.#connection.setRemoteDescription({ type: 'offer', sdp });
    await this.arrange(media);
    await this.#connection.setLocalDescription();
    this.#number = number;
    this.#describe();
  }

  /** An offer with another user name looks for the way anew (RFC 8839, ICE restart): our addresses are found anew with the answer. */
  #isRestart(sdp: string): boolean {
    const { remoteDescription: known } = this.#connection;
    return known !== null && userOf(known.sdp) !== userOf(sdp);
  }

  async takeAnswer({ number, sdp = '' }: SignalData): Promise<void> {
    if (this.awaitsAnswer && number === this.#number)
      await this.#connection.setRemoteDescription({ type: 'answer', sdp });
  }

  /** Those of an earlier attempt are refused, and that is all right. */
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
    this.#number += 1;
    this.#describe();
  }

  /** Our description as it is now: sent again, it also has the addresses found since. */
  #describe(): void {
    const { localDescription: description } = this.#connection;
    if (description === null) return;
    this.#parts.post('description', { number: this.#number, type: description.type, sdp: description.sdp });
  }

  #gather(candidate: RTCIceCandidate | null): void {
    if (candidate === null) return;
    this.#candidates.push(candidate.toJSON());
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#parts.post('candidate', { candidates: this.#candidates.splice(0) });
    }, gatherMs);
  }

  #placeOf(kind: Kind): RTCRtpTransceiver | undefined {
    return this.#connection.getTransceivers().find(({ receiver }) => receiver.track.kind === kind);
  }
}

function userOf(sdp: string): string | undefined {
  return /^a=ice-ufrag:(\S+)/m.exec(sdp)?.[1];
}

function directionOf(side: Side, media: Media, kind: Kind): RTCRtpTransceiverDirection {
  const other = side === 'operator' ? 'visitor' : 'operator';
  const [out, back] = [sends(side, media, kind), sends(other, media, kind)];
  if (out) return back ? 'sendrecv' : 'sendonly';
  return back ? 'recvonly' : 'inactive';
}
