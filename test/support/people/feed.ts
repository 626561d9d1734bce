import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import type { Json } from '../server.ts';
import { slowness } from '../slowness.ts';

export interface FeedItem {
  readonly id: string;
  readonly type: string;
  readonly data: Json;
  /** The data as it was sent. */
  readonly text: string;
}

/** An open feed and everything it has sent so far. */
export interface OpenFeed {
  readonly items: FeedItem[];
  readonly headers: Headers;
  readonly lastId: () => string;
  /** The number of blocks without data: comments, or an id alone. */
  readonly heartbeats: () => number;
  /** Waits for the first item that matches, earlier items included. */
  until(matches: (item: FeedItem) => boolean, what?: string): Promise<FeedItem>;
  untilType(type: string): Promise<FeedItem>;
  /** Resolves when the server has closed the feed. */
  readonly ended: Promise<void>;
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

const timeoutMs = 10_000;

interface FeedOptions {
  readonly token: string;
  readonly lastId?: string;
  readonly query?: string;
  readonly headers?: Record<string, string>;
}

/** Opens a feed and waits for its first item. */
export async function openFeed(server: { readonly url: string }, options: FeedOptions): Promise<OpenFeed> {
  const controller = new AbortController();
  const response = await fetch(`${server.url}/feed${options.query ?? ''}`, {
    signal: controller.signal,
    headers: {
      authorization: `Bearer ${options.token}`,
      ...(options.lastId === undefined ? {} : { 'last-event-id': options.lastId }),
      ...options.headers,
    },
  });
  assert.equal(response.status, 200, await (response.ok ? '' : response.text()));
  assert.match(response.headers.get('content-type') ?? '', /^text\/event-stream/);
  const items: FeedItem[] = [];
  let lastId = options.lastId ?? '';
  let beats = 0;
  const take = (block: string): void => {
    const fields = Object.fromEntries(
      block.split('\n').map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).trim()]),
    );
    lastId = fields['id'] ?? lastId;
    if (fields['data'] === undefined) beats += 1;
    else {
      const text = fields['data'];
      items.push({ id: fields['id'] ?? '', type: fields['event'] ?? '', data: JSON.parse(text), text });
    }
  };
  const ended = read(response, take).catch(() => undefined);
  const until = async (matches: (item: FeedItem) => boolean, what = 'the item'): Promise<FeedItem> => {
    const deadline = Date.now() + timeoutMs * slowness();
    for (;;) {
      const found = items.find(matches);
      if (found !== undefined) return found;
      assert.ok(Date.now() < deadline, `${what} did not come; ${items.map(({ type }) => type).join(' ')} did`);
      await pause(5);
    }
  };
  const close = async (): Promise<void> => {
    controller.abort();
    await ended;
  };
  const feed: OpenFeed = {
    items,
    headers: response.headers,
    lastId: () => lastId,
    heartbeats: () => beats,
    until,
    untilType: async (type) => until((item) => item.type === type, type),
    ended,
    close,
    [Symbol.asyncDispose]: close,
  };
  await feed.untilType('feed.open');
  return feed;
}

async function read(response: Response, take: (block: string) => void): Promise<void> {
  let text = '';
  const decoder = new TextDecoder();
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk as Uint8Array, { stream: true });
    const blocks = text.split('\n\n');
    text = blocks.pop() ?? '';
    for (const block of blocks) take(block);
  }
}

export function isMessage(content: string): (item: FeedItem) => boolean {
  return ({ type, data }) => type === 'engagement.chat.message' && data.message.content === content;
}

/** The contents of the received messages, in order. */
export function contents({ items }: OpenFeed): string[] {
  return items.filter(({ type }) => type === 'engagement.chat.message').map(({ data }) => data.message.content);
}
