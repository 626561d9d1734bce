import type { Sql } from '../platform/database/database.ts';
import type { AccountId, TicketId } from '../platform/ids.ts';
import { operatorsById } from '../identity/operators/store.ts';
import { requestsById } from '../engagements/requests/store.ts';
import { showRequest } from '../engagements/requests/request.ts';
import { engagementsById } from '../engagements/store.ts';
import { showTransferRequest, showTransferTicket } from '../engagements/transfers/transfer.ts';
import type { ChangedIds } from '../routing/board-changes.ts';
import { ticketsById } from '../routing/tickets/store.ts';
import { showTicket } from '../routing/tickets/ticket.ts';
import type { Turns } from '../routing/turns.ts';
import { opensToColleagues } from './audience.ts';
import { itemAbout, itemOf, type Item } from './items.ts';
import type { ReaderScope } from './log.ts';

interface Sources {
  readonly sql: Sql;
  readonly turns: Turns;
}

/** One statement reads up to this many. */
const batchSize = 1_000;

/**
 * The current states of what turns have changed, as a GET of each would answer. A state may be newer than the move that led to
 * it, and is then sent again; a ticket, request, engagement or operator that moved twice is sent once.
 */
export async function statesOf(
  sources: Sources,
  accountId: AccountId,
  changed: readonly ChangedIds[],
  scope: ReaderScope,
): Promise<Item[]> {
  const ids = (kind: keyof ChangedIds): string[] => [...new Set(changed.flatMap((things) => things[kind] ?? []))];
  const inBatches = async (kind: keyof ChangedIds, read: (batch: string[]) => Promise<Item[]>): Promise<Item[]> => {
    const all = ids(kind);
    const items: Item[] = [];
    for (let from = 0; from < all.length; from += batchSize)
      items.push(...(await read(all.slice(from, from + batchSize))));
    return items;
  };
  const { sql } = sources;
  const batches = await Promise.all([
    inBatches('operators', async (batch) => (await operatorsById(sql, accountId, batch)).map(operatorItem)),
    inBatches('tickets', async (batch) => ticketItems(sources, accountId, batch, scope)),
    inBatches('requests', async (batch) => (await requestsById(sql, accountId, batch, scope)).map(requestItem)),
    inBatches('engagements', async (batch) =>
      (await engagementsById(sql, accountId, batch, scope)).map(engagementItem),
    ),
  ]);
  return batches.flat();
}

async function ticketItems(
  { sql, turns }: Sources,
  accountId: AccountId,
  ids: readonly string[],
  scope: ReaderScope,
): Promise<Item[]> {
  const rows = await ticketsById(sql, accountId, ids, scope);
  const active = rows.filter(({ state }) => state === 'waiting' || state === 'offered').map(({ id }) => id);
  const views = new Map((await viewTickets(turns, accountId, active)).map((view) => [view.id, view]));
  return rows.map(({ kind, holder, ...row }) => {
    const view = views.get(row.id) ?? null;
    const shown = showTicket(view === null ? row : { ...row, state: view.state, queue_ids: [...view.queueIds] }, view);
    const about = { siteId: row.site_id, visitorId: row.visitor_id, operatorId: holder };
    return kind === 'visitor'
      ? itemAbout('queue_ticket.state', shown, about)
      : itemAbout('transfer_ticket.state', showTransferTicket(shown), about);
  });
}

export async function viewTickets(turns: Turns, accountId: AccountId, ticketIds: readonly TicketId[]) {
  return ticketIds.length === 0 ? [] : turns.run(accountId, { name: 'viewTickets', ticketIds });
}

function requestItem(row: Awaited<ReturnType<typeof requestsById>>[number]): Item {
  const { kind, holder } = row;
  const item =
    kind === 'transfer'
      ? itemAbout('transfer_request.state', showTransferRequest(row), row)
      : itemAbout('engagement_request.state', showRequest(row), row);
  // The operator who requested the transfer waits for the answer.
  return holder === null ? item : { ...item, keys: [...item.keys, ...opensToColleagues(holder.id, [holder.siteId])] };
}

function engagementItem({ account_id: _account, ...row }: Awaited<ReturnType<typeof engagementsById>>[number]): Item {
  const about = { siteId: row.site_id, visitorId: row.visitor_id, operatorId: row.operator_id };
  return itemAbout('engagement.state', row, about);
}

function operatorItem({
  account_id: _account,
  version: _version,
  ...row
}: Awaited<ReturnType<typeof operatorsById>>[number]): Item {
  const sites = row.assignments.map(({ site_id }) => site_id);
  return itemOf('operator.state', row, opensToColleagues(row.id, sites));
}
