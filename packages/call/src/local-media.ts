import { whyOf, type Problem } from './problem.ts';
import type { Kind } from './media.ts';

const deviceOf = { audio: 'microphone', video: 'camera' } as const;

const constraints = {
  audio: { echoCancellation: true, noiseSuppression: true, autoGainControl: true },
  video: { width: { ideal: 1280 }, height: { ideal: 720 }, frameRate: { ideal: 30, max: 30 }, facingMode: 'user' },
} as const;

/** Our own microphone and camera: at most one track of each, and why there is none. */
export class LocalMedia {
  /** What is sent; to be shown to oneself, muted. */
  readonly stream = new MediaStream();
  /** The chosen ones; the browser's choice until then. */
  readonly #chosen: Partial<Record<Kind, string>> = {};
  problems: readonly Problem[] = [];
  /**
   * Devices that both sides have agreed on, and that their owner has neither started nor turned off. Independent of the tracks and
   * problems of another time: a camera that was refused once may await a click again.
   */
  readonly #awaitsClick = new Set<Kind>();
  readonly #onLost: (kind: Kind) => void;

  /** `onLost`: a device was taken away. Another one is not taken in its place: that is its owner's to say. */
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

  /** Lets go of the devices that are not to be heard or seen. */
  keepOnly(sent: readonly Kind[]): void {
    for (const kind of ['audio', 'video'] as const) if (!sent.includes(kind)) this.turnOff(kind);
  }

  turnOff(kind: Kind): void {
    this.#awaitsClick.delete(kind);
    this.drop(kind);
  }

  /** There is none, and nobody has been refused one. */
  #isOff(kind: Kind): boolean {
    return this.track(kind) === null && !this.problems.some(({ device }) => device === deviceOf[kind]);
  }

  /** Asks for both at once, so that the user is asked once; where that fails, for each, so that one of them may do. */
  async take(kinds: readonly Kind[]): Promise<void> {
    if (kinds.length === 0) return;
    for (const kind of kinds) this.#awaitsClick.delete(kind);
    this.problems = this.problems.filter(({ device }) => !kinds.some((kind) => deviceOf[kind] === device));
    try {
      const taken = await this.#ask(kinds);
      for (const track of taken.getTracks()) this.#hold(track);
    } catch (error) {
      if (kinds.length > 1) for (const kind of kinds) await this.take([kind]);
      else for (const kind of kinds) this.#complain(kind, error);
    }
  }

  /** The device is free for others, and its light goes out. */
  drop(kind: Kind): void {
    const track = this.track(kind);
    if (track === null) return;
    track.stop();
    this.stream.removeTrack(track);
  }

  /** Uses that device from now on. A device that is off, or is not sent, is not turned on by choosing: `false`. */
  async choose(kind: Kind, id: string, isSent: boolean): Promise<boolean> {
    this.#chosen[kind] = id;
    if (!isSent || this.#isOff(kind)) return false;
    const wasMuted = this.track(kind)?.enabled === false;
    // Dropped first: many phones open one camera at a time.
    this.drop(kind);
    await this.take([kind]);
    if (this.track(kind) === null) await this.#takeAny(kind);
    const track = this.track(kind);
    if (track !== null) track.enabled = !wasMuted;
    return true;
  }

  /** The chosen one cannot be had: the browser's own choice is taken, and the problem stays. */
  async #takeAny(kind: Kind): Promise<void> {
    const { problems } = this;
    delete this.#chosen[kind];
    await this.take([kind]);
    this.problems = problems;
  }

  async #ask(kinds: readonly Kind[]): Promise<MediaStream> {
    const wanted = (kind: Kind) => {
      const id = this.#chosen[kind];
      return kinds.includes(kind) && { ...constraints[kind], ...(id === undefined ? {} : { deviceId: { exact: id } }) };
    };
    return navigator.mediaDevices.getUserMedia({ audio: wanted('audio'), video: wanted('video') });
  }

  #hold(track: MediaStreamTrack): void {
    const kind = track.kind as Kind;
    this.drop(kind);
    this.stream.addTrack(track);
    track.addEventListener('ended', () => {
      if (this.track(kind) !== track) return;
      this.drop(kind);
      this.problems = [...this.problems, { device: deviceOf[kind], why: 'lost' }];
      this.#onLost(kind);
    });
  }

  #complain(kind: Kind, error: unknown): void {
    const isInsecure = (navigator.mediaDevices as MediaDevices | undefined) === undefined;
    const why = isInsecure ? 'insecure' : whyOf(error);
    this.problems = [...this.problems, { device: deviceOf[kind], why }];
  }
}
