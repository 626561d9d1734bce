import type { ServerResponse } from 'node:http';
import type { Caller } from '../identity/caller.ts';
import { keysOf, type Key } from './audience.ts';

/** Bytes that may wait for a reader. Readers who leave more unread are dropped; they come back and read on where they were. */
const mostUnread = 256 * 1024;
/** After `close`, a reader may read what was sent for so long. */
const closePatienceMs = 5_000;

/**
 *   behind  reads what it missed; what happens meanwhile is kept for it, up to `mostUnread`
 *   live    is sent whatever happens, as it happens
 *   closed  is sent nothing more
 *
 *   behind —goLive→ live
 *   behind, live —close, too much left unread, or the connection ended→ closed
 */
type Progress =
  { readonly state: 'behind'; readonly kept: string[]; keptLength: number } | { readonly state: 'live' | 'closed' };

/** Shared by all streams. */
const live: Progress = { state: 'live' };
const closed: Progress = { state: 'closed' };

/** One open feed. */
export class Stream {
  readonly header: string;
  readonly response: ServerResponse;
  caller: Caller;
  keys: readonly Key[];
  #progress: Progress;
  readonly #onDropped: () => void;

  constructor(response: ServerResponse, header: string, caller: Caller, onDropped: () => void) {
    this.#onDropped = onDropped;
    this.response = response;
    this.header = header;
    this.caller = caller;
    this.keys = keysOf(caller);
    this.#progress = response.closed ? closed : { state: 'behind', kept: [], keptLength: 0 };
    response.on('close', () => {
      this.#progress = closed;
    });
  }

  get closed(): boolean {
    return this.#progress.state === 'closed';
  }

  get live(): boolean {
    return this.#progress.state === 'live';
  }

  /** What happens now. */
  send(text: string): void {
    const progress = this.#progress;
    if (progress.state === 'live') this.#write(text);
    if (progress.state !== 'behind') return;
    progress.kept.push(text);
    progress.keptLength += text.length;
    if (progress.keptLength > mostUnread) this.#drop();
  }

  /** What was missed, before anything else; resolves when there is room for more. */
  async sendMissed(text: string): Promise<void> {
    if (this.closed || this.response.write(text)) return;
    await new Promise<void>((resolve) => {
      const done = (): void => {
        this.response.off('drain', done).off('close', done);
        resolve();
      };
      this.response.on('drain', done).on('close', done);
    });
  }

  goLive(): void {
    const progress = this.#progress;
    if (progress.state !== 'behind') return;
    this.#progress = live;
    if (progress.kept.length > 0) this.#write(progress.kept.join(''));
  }

  close(): void {
    if (this.closed) return;
    this.#progress = closed;
    this.response.end();
    // A reader who does not read would keep the response for as long as the connection lasts.
    setTimeout(() => this.response.destroy(), closePatienceMs).unref();
  }

  #write(text: string): void {
    // What is written at once may be more than the limit; what was left unread before it may not.
    if (this.response.writableLength > mostUnread) this.#drop();
    else this.response.write(text);
  }

  /** The reader is too slow. What they have not read they will not read from this response. */
  #drop(): void {
    this.#progress = closed;
    this.#onDropped();
    this.response.destroy();
  }
}
