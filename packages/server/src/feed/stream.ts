import type { ServerResponse } from 'node:http';
import type { Caller } from '../identity/caller.ts';
import { keysOf, type Key } from './audience.ts';

/** Bytes that may wait for a reader. One that leaves more unread is dropped; it comes back and reads on where it was. */
const mostUnread = 256 * 1024;
/** One that is closed may read what it has been sent for so long. */
const closePatienceMs = 5_000;

/**
 * One open feed. It is
 *
 *   behind   reading what it missed; what happens meanwhile is kept for it, up to the limit;
 *   live     sent whatever happens, as it happens;
 *   closed   gone.
 */
export class Stream {
  readonly header: string;
  readonly response: ServerResponse;
  caller: Caller;
  keys: readonly Key[];
  #kept: string[] | null = [];
  #keptLength = 0;
  #closed = false;
  readonly #onDropped: () => void;

  constructor(response: ServerResponse, header: string, caller: Caller, onDropped: () => void) {
    this.#onDropped = onDropped;
    this.response = response;
    this.header = header;
    this.caller = caller;
    this.keys = keysOf(caller);
    this.#closed = response.closed;
    response.on('close', () => {
      this.#closed = true;
    });
  }

  get closed(): boolean {
    return this.#closed;
  }

  get live(): boolean {
    return this.#kept === null && !this.#closed;
  }

  /** What happens now. */
  send(text: string): void {
    if (this.#closed) return;
    if (this.#kept !== null) this.#keep(this.#kept, text);
    else this.#write(text);
  }

  /** What was missed, before anything else; resolves when there is room for more. */
  async sendMissed(text: string): Promise<void> {
    if (this.#closed || this.response.write(text)) return;
    await new Promise<void>((resolve) => {
      const done = (): void => {
        this.response.off('drain', done).off('close', done);
        resolve();
      };
      this.response.on('drain', done).on('close', done);
    });
  }

  goLive(): void {
    const kept = this.#kept ?? [];
    this.#kept = null;
    if (kept.length > 0) this.#write(kept.join(''));
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.response.end();
    // One that does not read would keep it for as long as its connection lasts.
    setTimeout(() => this.response.destroy(), closePatienceMs).unref();
  }

  #keep(kept: string[], text: string): void {
    kept.push(text);
    this.#keptLength += text.length;
    if (this.#keptLength > mostUnread) this.#drop();
  }

  #write(text: string): void {
    if (this.#closed) return;
    // What is written at once may be more than the limit; what was left unread before it may not.
    if (this.response.writableLength > mostUnread) this.#drop();
    else this.response.write(text);
  }

  /** Nothing more is said to it: what it has not read it will not read. */
  #drop(): void {
    this.#closed = true;
    this.#onDropped();
    this.response.destroy();
  }
}
