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
  readonly chosen: Partial<Record<Kind, string>> = {};
  problems: readonly Problem[] = [];
  readonly #onLost: (kind: Kind) => void;

  /** `onLost`: a device was taken away. Another one is not taken in its place: that is its owner's to say. */
  constructor(onLost: (kind: Kind) => void) {
    this.#onLost = onLost;
  }

  track(kind: Kind): MediaStreamTrack | null {
    return this.stream.getTracks().find((track) => track.kind === kind) ?? null;
  }

  /** There is none, and nobody has been refused one. */
  isOff(kind: Kind): boolean {
    return this.track(kind) === null && !this.problems.some(({ device }) => device === deviceOf[kind]);
  }

  /** Asks for both at once, so that the user is asked once; where that fails, for each, so that one of them may do. */
  async take(kinds: readonly Kind[]): Promise<void> {
    if (kinds.length === 0) return;
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

  /** One that cannot be had is said, and the browser's own choice taken instead. */
  async choose(kind: Kind, id: string): Promise<void> {
    // Dropped first: many phones open one camera at a time.
    this.drop(kind);
    this.chosen[kind] = id;
    await this.take([kind]);
    if (this.track(kind) !== null) return;
    const { problems } = this;
    delete this.chosen[kind];
    await this.take([kind]);
    this.problems = problems;
  }

  async #ask(kinds: readonly Kind[]): Promise<MediaStream> {
    const wanted = (kind: Kind) => {
      const id = this.chosen[kind];
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
