import type { Channel, ChannelContext, DestinationOrigin, OpenChannel } from './channel.ts';
import { findChannel } from './channels.ts';

/** The open channels of a process, with their connections. */
export class OpenChannels {
  readonly #opened: ReadonlyMap<Channel, OpenChannel>;

  constructor(channels: readonly Channel[], context: ChannelContext) {
    this.#opened = new Map(channels.map((channel) => [channel, channel.open(context)]));
  }

  of(url: string): readonly [Channel, OpenChannel] {
    const channel = findChannel(url, [...this.#opened.keys()]);
    const opened = channel === null ? undefined : this.#opened.get(channel);
    if (channel === null || opened === undefined) throw new Error('no channel has the scheme of the stored URL');
    return [channel, opened];
  }

  closeDestination(destination: DestinationOrigin): void {
    for (const opened of this.#opened.values()) opened.closeDestination(destination);
  }

  close(): void {
    for (const opened of this.#opened.values()) opened.close();
  }
}
