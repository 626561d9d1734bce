import type { Answer, Api, Operation, Request } from '@usher/client/api';
import { maxPageSize } from '@usher/contract/limits';
import type { BoardStore } from './store/board-store.ts';

/** The maximum of the API. */

interface Reader {
  readonly api: Api;
  readonly store: BoardStore;
  readonly siteIds: readonly string[];
  readonly signal: AbortSignal;
}

/** Reads everything a board shows. Queues come first and alone, because the board is useful with queues alone. */
export async function readBoard(reader: Reader): Promise<void> {
  const { store, siteIds } = reader;
  const query = { site_ids: siteIds, per_page: maxPageSize };
  await readQueues(reader);
  await Promise.all([
    store.reading('tickets', async (add) => {
      await pages(reader, 'GET /queue_tickets', { query }, (page) => add(page.queue_tickets));
      await pages(reader, 'GET /transfer_tickets', { query }, (page) => add(page.transfer_tickets));
    }),
    store.reading('engagements', async (add) =>
      pages(reader, 'GET /engagements', { query: { ...query, state: 'active' } }, (page) => add(page.engagements)),
    ),
    store.reading('operators', async (add) =>
      pages(reader, 'GET /operators', { query: { ...query, include_offline: true } }, (page) => add(page.operators)),
    ),
  ]);
}

export async function readQueues({ api, store, siteIds, signal }: Reader): Promise<void> {
  await store.reading('queues', async (add) =>
    add((await api.call('GET /queues', { query: { site_ids: siteIds }, signal })).queues),
  );
}

type Paged = 'GET /queue_tickets' | 'GET /transfer_tickets' | 'GET /engagements' | 'GET /operators';

/** Reads page after page, following the link to the next one. */
async function pages<O extends Paged & Operation>(
  { api, signal }: Reader,
  operation: O,
  request: Request<O>,
  take: (page: Answer<O>) => void,
): Promise<void> {
  let asked: Record<string, unknown> | null = { ...request, signal };
  while (asked !== null) {
    const page: Answer<O> = await api.call(operation, asked as unknown as Request<O>);
    take(page);
    const { next_page: next } = page as { readonly next_page: string | null };
    asked = next === null ? null : { signal, query: { ...(request.query as object), ...placeIn(next) } };
  }
}

function placeIn(address: string): Record<string, string> {
  const { searchParams } = new URL(address);
  return Object.fromEntries([...searchParams].filter(([name]) => name === 'cursor' || name === 'page'));
}
