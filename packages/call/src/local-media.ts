import { problemReason, type DeviceProblem } from './device-problem.ts';
import type { Kind } from './media.ts';

const deviceOf = { audio: 'microphone', video: 'camera' } as const;

const constraints = {
  audio: { echoCancellation: true, noiseSuppression: true, autoGainControl: true },
  video: { width: { ideal: 1280 }, height: { ideal: 720 }, frameRate: { ideal: 30, max: 30 }, facingMode: 'user' },
} as const;

/** Our microphone and camera: at most one track of each kind, and the problems of those that could not be used. */
export class LocalMedia {
  /** The tracks that are sent. A page plays them muted. */
  readonly stream = new MediaStream();
  /** Ids of the devices that the user chose. The browser chooses the others. */
  readonly #chosen: Partial<Record<Kind, string>> = {};
  problems: readonly DeviceProblem[] = [];
  /**
   * Kinds that both sides agreed to send, and whose device the owner has neither started nor turned off yet. Earlier tracks and
   * problems do not matter: a camera that was refused once may await a click again.
   */
  readonly #awaitsClick = new Set<Kind>();
  readonly #onLost: (kind: Kind) => void;

  /** `onLost`: a device was disconnected. No other device replaces it: only a click of its owner starts one. */
  constructor(onLost: (kind: Kind) => void) {
    this.#onLost = onLost;
  }

  track(kind: Kind): MediaStreamTrack | null {
    return this.stream.getTracks().find((track) => track.kind === kind) ?? null;
  }

  get awaitsClick(): readonly Kind[] {
    return [...this.#awaitsClick];
  }

  awaitClick(kinds: readonly Kind[]): void {
    for (const kind of kinds) this.#awaitsClick.add(kind);
  }

  /** Turns off the devices of all other kinds. */
  keepOnly(sent: readonly Kind[]): void {
    for (const kind of ['audio', 'video'] as const) if (!sent.includes(kind)) this.turnOff(kind);
  }

  turnOff(kind: Kind): void {
    this.#awaitsClick.delete(kind);
    this.release(kind);
  }

  /** There is no track, and no problem explains why: the user turned the device off. */
  #isOff(kind: Kind): boolean {
    return this.track(kind) === null && !this.problems.some(({ device }) => device === deviceOf[kind]);
  }

  /** Requests both devices together, so that the browser asks the user once. If that fails, requests each alone: one may work. */
  async acquire(kinds: readonly Kind[]): Promise<void> {
    if (kinds.length === 0) return;
    for (const kind of kinds) this.#awaitsClick.delete(kind);
    this.problems = this.problems.filter(({ device }) => !kinds.some((kind) => deviceOf[kind] === device));
    try {
      const granted = await this.#requestStream(kinds);
      for (const track of granted.getTracks()) this.#addTrack(track);
    } catch (error) {
      if (kinds.length > 1) for (const kind of kinds) await this.acquire([kind]);
      else for (const kind of kinds) this.#addProblem(kind, error);
    }
  }

  /** Stops the track: the device is free for other programs, and its light goes out. */
  release(kind: Kind): void {
    const track = this.track(kind);
    if (track === null) return;
    track.stop();
    this.stream.removeTrack(track);
  }

  /** Uses that device from now on. Choosing does not turn on a device that is off or not sent; then returns `false`. */
  async choose(kind: Kind, id: string, isSent: boolean): Promise<boolean> {
    this.#chosen[kind] = id;
    if (!isSent || this.#isOff(kind)) return false;
    const wasMuted = this.track(kind)?.enabled === false;
    // The old track is released first: many phones can open only one camera at a time.
    this.release(kind);
    await this.acquire([kind]);
    if (this.track(kind) === null) await this.#acquireDefault(kind);
    const track = this.track(kind);
    if (track !== null) track.enabled = !wasMuted;
    return true;
  }

  /** The chosen device is not available: the browser chooses another one, and the problem stays visible. */
  async #acquireDefault(kind: Kind): Promise<void> {
    const { problems } = this;
    delete this.#chosen[kind];
    await this.acquire([kind]);
    this.problems = problems;
  }

  async #requestStream(kinds: readonly Kind[]): Promise<MediaStream> {
    const constraintsFor = (kind: Kind) => {
      const id = this.#chosen[kind];
      return kinds.includes(kind) && { ...constraints[kind], ...(id === undefined ? {} : { deviceId: { exact: id } }) };
    };
    return navigator.mediaDevices.getUserMedia({ audio: constraintsFor('audio'), video: constraintsFor('video') });
  }

  #addTrack(track: MediaStreamTrack): void {
    const kind = track.kind as Kind;
    this.release(kind);
    this.stream.addTrack(track);
    track.addEventListener('ended', () => {
      if (this.track(kind) !== track) return;
      this.release(kind);
      this.problems = [...this.problems, { device: deviceOf[kind], reason: 'lost' }];
      this.#onLost(kind);
    });
  }

  #addProblem(kind: Kind, error: unknown): void {
    const isInsecure = (navigator.mediaDevices as MediaDevices | undefined) === undefined;
    const reason = isInsecure ? 'insecure' : problemReason(error);
    this.problems = [...this.problems, { device: deviceOf[kind], reason }];
  }
}
