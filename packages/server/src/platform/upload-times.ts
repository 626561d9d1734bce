import { Refusal } from './errors.ts';

/** In every window a sender must bring so much, 2 KiB/s: a byte now and then would hold a place for the longest time. */
const windowMs = 30_000;
const leastBytes = 64 * 1024;
const longestMs = 10 * 60_000;

/** How long the sender of a file, and the disk it goes to, is waited for. */
export class UploadTimes {
  #window: NodeJS.Timeout | undefined;
  #longest: NodeJS.Timeout | undefined;
  #bytes = 0;
  /** Nothing more is read until the disk has caught up: the disk is waited for, now or at some time in this window. */
  #isHeld = false;
  #wasHeld = false;

  start(late: (reason: Refusal) => void): void {
    this.#window = setInterval(() => {
      const fault = this.#faultOfWindow();
      this.#bytes = 0;
      this.#wasHeld = this.#isHeld;
      if (fault !== null) late(fault);
    }, windowMs);
    const notWhole = `The file was not whole after ${longestMs / 60_000} minutes.`;
    this.#longest = setTimeout(() => late(timeout(notWhole)), longestMs);
  }

  onBytes(count: number): void {
    this.#bytes += count;
  }

  /** Also once everything has come: from then on the disk alone is waited for. */
  hold(isHeld: boolean): void {
    this.#isHeld = isHeld;
    this.#wasHeld ||= isHeld;
  }

  stop(): void {
    clearInterval(this.#window);
    clearTimeout(this.#longest);
  }

  #faultOfWindow(): Refusal | null {
    if (this.#bytes >= leastBytes) return null;
    // The sender's pace cannot be told while the disk is the slower of the two. But something must move.
    if (this.#wasHeld && this.#bytes > 0) return null;
    if (this.#wasHeld)
      return new Refusal('storage_unavailable', 'The file could not be written in time. Try again later.');
    return timeout(`The file comes too slowly: less than ${leastBytes / 1024} KiB in ${windowMs / 1_000} s.`);
  }
}

function timeout(what: string): Refusal {
  const headers = { connection: 'close' };
  return new Refusal('request_timeout', `${what} Send it again over a faster connection.`, { headers });
}
