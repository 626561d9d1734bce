import type { ServerResponse } from 'node:http';
import type { Caller } from '../identity/caller.ts';
import { keysOf, type Key } from './audience.ts';

/** Limit of unread bytes. A reader with more is dropped; they may reconnect and resume. */
const maxUnread = 256 * 1024;
/** After `close`, the reader has this long to read what was sent. */
const closeTimeoutMs = 5_000;

/**
 *   behind  the reader is sent missed items; new items are buffered, up to `maxUnread`
 *   live    the reader is sent new items at once
 *   closed  nothing is sent any more
 *
 *   behind —goLive→ live
 *   behind, live —close, too much unread, or the connection ended→ closed
 */
type Progress =
  | { readonly state: 'behind'; readonly buffered: string[]; bufferedLength: number }
  | { readonly state: 'live' | 'closed' };

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
    this.#progress = response.closed ? closed : { state: 'behind', buffered: [], bufferedLength: 0 };
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

  /** Sends a new item, or buffers it while the reader is behind. */
  send(text: string): void {
    const progress = this.#progress;
    if (progress.state === 'live') this.#write(text);
    if (progress.state !== 'behind') return;
    progress.buffered.push(text);
    progress.bufferedLength += text.length;
    if (progress.bufferedLength > maxUnread) this.#drop();
  }

  /** Sends missed items, before any new item; resolves when the response accepts more. */
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
    if (progress.buffered.length > 0) this.#write(progress.buffered.join(''));
  }

  close(): void {
    if (this.closed) return;
    this.#progress = closed;
    this.response.end();
    // A reader who does not read would keep the response open as long as the connection.
    setTimeout(() => this.response.destroy(), closeTimeoutMs).unref();
  }

  #write(text: string): void {
    // One write may exceed the limit; the unread bytes before it may not.
    if (this.response.writableLength > maxUnread) this.#drop();
    else this.response.write(text);
  }

  /** The reader is too slow: destroys the response with its unread bytes. */
  #drop(): void {
    this.#progress = closed;
    this.#onDropped();
    this.response.destroy();
  }
}
