import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FeedReader } from '@usher/sdk/feed';
import { Transport } from '@usher/sdk/transport';
import type { Api } from './api.ts';
import { Feed, type FeedState } from './feed.ts';

/** An API whose feed answers the requests one after the other, and the ids after which they asked. */
function answering(answers: readonly ((signal: AbortSignal) => Response)[]): {
  api: Api;
  askedAfter: (string | null)[];
} {
  const askedAfter: (string | null)[] = [];
  const left = [...answers];
  const fetch = async (_url: unknown, init: RequestInit = {}): Promise<Response> => {
    askedAfter.push(new Headers(init.headers).get('last-event-id'));
    const answer = left.shift() ?? assert.fail('no answer is left');
    return answer(init.signal ?? assert.fail('no signal'));
  };
  const transport = new Transport({ url: '', fetch });
  return { api: { feed: (options) => new FeedReader(transport, options) } as Api, askedAfter };
}

/** A feed that sends these items at once and stays open. */
function open(...ids: readonly number[]): (signal: AbortSignal) => Response {
  const bytes = new TextEncoder().encode(ids.map((id) => `id: ${id}\nevent: item\ndata: ${id}\n\n`).join(''));
  return (signal) => {
    const stream = new ReadableStream<Uint8Array>({
      start(controller) {
        controller.enqueue(bytes);
        signal.addEventListener('abort', () => controller.error(signal.reason));
      },
    });
    return new Response(stream, { headers: { 'content-type': 'text/event-stream' } });
  };
}

test('a feed that is restarted by a listener delivers each item once', async () => {
  const { api, askedAfter } = answering([open(1, 2), open(2, 3)]);
  const delivered: unknown[] = [];
  const all = Promise.withResolvers<void>();
  const feed: Feed = new Feed({
    api,
    holdPresence: () => false,
    onState: () => undefined,
    onItem: ({ data }) => {
      delivered.push(data);
      if (data === 1) {
        feed.stop();
        feed.start();
      }
      if (data === 3) all.resolve();
    },
  });
  feed.start();
  await all.promise;
  feed.stop();
  assert.deepEqual(
    [delivered, askedAfter],
    [
      [1, 2, 3],
      [null, '1'],
    ],
  );
});

test('a lost connection is opened again after the last item, at once if hurried; a refusal ends the feed', async () => {
  const ended = (signal: AbortSignal): Response => new Response(open(1)(signal).body?.pipeThrough(firstChunk()));
  const problem = { status: 401, error: 'unauthenticated', detail: 'Sign in.', details: [] };
  const { api, askedAfter } = answering([ended, () => Response.json(problem, { status: 401 })]);
  const states: FeedState[] = [];
  const isOver = Promise.withResolvers<void>();
  const feed: Feed = new Feed({
    api,
    holdPresence: () => true,
    onItem: () => undefined,
    onState: (state) => {
      states.push(state);
      if (state === 'lost') queueMicrotask(() => feed.hurry());
      if (state === 'ended') isOver.resolve();
    },
  });
  feed.start();
  await isOver.promise;
  assert.deepEqual(
    [states, askedAfter],
    [
      ['connecting', 'open', 'lost', 'ended'],
      [null, '1'],
    ],
  );
});

/** Ends the stream after its first chunk. */
function firstChunk(): TransformStream<Uint8Array, Uint8Array> {
  return new TransformStream({
    transform(chunk, controller) {
      controller.enqueue(chunk);
      controller.terminate();
    },
  });
}
