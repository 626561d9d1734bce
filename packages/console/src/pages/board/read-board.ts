import type { Answer, Api, Operation, Request } from '@usher/client/api';
import { maxPageSize } from '@usher/contract/limits';
import type { BoardStore } from './store/board-store.ts';

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
    store.readAll('tickets', async (add) => {
      await readPages(reader, 'GET /queue_tickets', { query }, (page) => add(page.queue_tickets));
      await readPages(reader, 'GET /transfer_tickets', { query }, (page) => add(page.transfer_tickets));
    }),
    store.readAll('engagements', async (add) =>
      readPages(reader, 'GET /engagements', { query: { ...query, state: 'active' } }, (page) => add(page.engagements)),
    ),
    store.readAll('operators', async (add) =>
      readPages(reader, 'GET /operators', { query: { ...query, include_offline: true } }, (page) =>
        add(page.operators),
      ),
    ),
  ]);
}

export async function readQueues({ api, store, siteIds, signal }: Reader): Promise<void> {
  await store.readAll('queues', async (add) =>
    add((await api.call('GET /queues', { query: { site_ids: siteIds }, signal })).queues),
  );
}

type Paged = 'GET /queue_tickets' | 'GET /transfer_tickets' | 'GET /engagements' | 'GET /operators';

/** Reads page after page, following the link to the next one. */
async function readPages<O extends Paged & Operation>(
  { api, signal }: Reader,
  operation: O,
  request: Request<O>,
  take: (page: Answer<O>) => void,
): Promise<void> {
  let pageRequest: Record<string, unknown> | null = { ...request, signal };
  while (pageRequest !== null) {
    const page: Answer<O> = await api.call(operation, pageRequest as unknown as Request<O>);
    take(page);
    const { next_page: next } = page as { readonly next_page: string | null };
    pageRequest = next === null ? null : { signal, query: { ...(request.query as object), ...pageParams(next) } };
  }
}

function pageParams(address: string): Record<string, string> {
  const { searchParams } = new URL(address);
  return Object.fromEntries([...searchParams].filter(([name]) => name === 'cursor' || name === 'page'));
}
