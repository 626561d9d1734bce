import { Refusal } from '../errors.ts';

/** A sender must send this much in every window (2 KiB/s), or a byte now and then would occupy an upload slot for minutes. */
const windowMs = 30_000;
const minBytes = 64 * 1024;
const longestMs = 10 * 60_000;

/** Time limits for an upload: for its sender, and for the disk that it is written to. */
export class UploadTimes {
  #window: NodeJS.Timeout | undefined;
  #longest: NodeJS.Timeout | undefined;
  #bytes = 0;
  /** Reading is paused until the disk has caught up: now, or at any time in this window. */
  #isPaused = false;
  #wasPaused = false;

  start(late: (reason: Refusal) => void): void {
    this.#window = setInterval(() => {
      const fault = this.#faultOfWindow();
      this.#bytes = 0;
      this.#wasPaused = this.#isPaused;
      if (fault !== null) late(fault);
    }, windowMs);
    const incomplete = `The upload took longer than ${longestMs / 60_000} minutes.`;
    this.#longest = setTimeout(() => late(timeout(incomplete)), longestMs);
  }

  onBytes(count: number): void {
    this.#bytes += count;
  }

  /** Reading is also paused after the last byte: from then on only the disk is waited for. */
  setPaused(isPaused: boolean): void {
    this.#isPaused = isPaused;
    this.#wasPaused ||= isPaused;
  }

  stop(): void {
    clearInterval(this.#window);
    clearTimeout(this.#longest);
  }

  #faultOfWindow(): Refusal | null {
    if (this.#bytes >= minBytes) return null;
    // While the disk is the bottleneck, the speed of the sender is unknown. But some bytes must arrive.
    if (this.#wasPaused && this.#bytes > 0) return null;
    if (this.#wasPaused)
      return new Refusal('storage_unavailable', 'The file could not be written in time. Try again later.');
    return timeout(`The upload is too slow: less than ${minBytes / 1024} KiB in ${windowMs / 1_000} s.`);
  }
}

function timeout(what: string): Refusal {
  const headers = { connection: 'close' };
  return new Refusal('request_timeout', `${what} Send it again over a faster connection.`, { headers });
}
