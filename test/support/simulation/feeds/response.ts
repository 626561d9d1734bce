import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';

/**
 * An item counts for so many bytes, so that few fill the buffers of a reader who is slow. Its text is not counted: ids have numbers of
 * transactions, which differ when a history is repeated.
 */
const bytesPerItem = 50_000;
const endOfItem = '\n\n';
/** Beyond this, writers have to wait. */
const highWaterMark = 16 * 1024;

/** The response that a feed writes to, as far as feeds use it. The reader reads when the scheduler says so. */
export class SimulatedResponse extends EventEmitter {
  #unread = '';
  #isEnded = false;
  closed = false;

  /** As the type that the server expects. */
  get asResponse(): ServerResponse {
    return this as unknown as ServerResponse;
  }

  get writableLength(): number {
    return (this.#unread.split(endOfItem).length - 1) * bytesPerItem;
  }

  get hasUnread(): boolean {
    return this.#unread !== '' || this.#isEnded;
  }

  write(text: string): boolean {
    if (this.closed || this.#isEnded) return false;
    this.#unread += text;
    return this.writableLength < highWaterMark;
  }

  end(): void {
    this.#isEnded = true;
  }

  destroy(): void {
    if (this.closed) return;
    this.closed = true;
    this.#unread = '';
    this.emit('close');
  }

  /** The next items, at most so many. An ended response is closed with the last one. */
  read(items: number): readonly string[] {
    const unread = this.#unread.split(endOfItem);
    const read = unread.slice(0, Math.min(items, unread.length - 1));
    this.#unread = unread.slice(read.length).join(endOfItem);
    if (this.#isEnded && this.#unread === '') this.destroy();
    else this.emit('drain');
    return read;
  }
}
