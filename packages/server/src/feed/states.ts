import type { Sql } from '../platform/database.ts';
import type { AccountId, TicketId } from '../platform/ids.ts';
import { operatorsById } from '../identity/operators/store.ts';
import { requestsById } from '../engagements/requests/store.ts';
import { showRequest } from '../engagements/requests/request.ts';
import { engagementsById } from '../engagements/store.ts';
import { showTransferRequest, showTransferTicket } from '../engagements/transfers/transfer.ts';
import type { MovedIds } from '../routing/load-board.ts';
import { ticketsById } from '../routing/tickets/store.ts';
import { showTicket } from '../routing/tickets/ticket.ts';
import type { Turns } from '../routing/turns.ts';
import { opensToColleagues } from './audience.ts';
import { itemAbout, itemOf, type Item } from './items.ts';
import type { Wanted } from './log.ts';

interface Sources {
  readonly sql: Sql;
  readonly turns: Turns;
}

/** So many things are looked at in one statement. */
const thingsAtOnce = 1_000;

/**
 * Things that turns have moved, as they are now: the same a GET of each would answer. It may be newer than the move that
 * led to it, and is then sent again; a thing that moved twice meanwhile is sent once.
 */
export async function statesOf(
  sources: Sources,
  accountId: AccountId,
  moved: readonly MovedIds[],
  wanted: Wanted,
): Promise<Item[]> {
  const ids = (kind: keyof MovedIds): string[] => [...new Set(moved.flatMap((things) => things[kind] ?? []))];
  const inParts = async (kind: keyof MovedIds, read: (part: string[]) => Promise<Item[]>): Promise<Item[]> => {
    const all = ids(kind);
    const items: Item[] = [];
    for (let from = 0; from < all.length; from += thingsAtOnce)
      items.push(...(await read(all.slice(from, from + thingsAtOnce))));
    return items;
  };
  const { sql } = sources;
  const parts = await Promise.all([
    inParts('operators', async (part) => (await operatorsById(sql, accountId, part)).map(operatorItem)),
    inParts('tickets', async (part) => ticketItems(sources, accountId, part, wanted)),
    inParts('requests', async (part) => (await requestsById(sql, accountId, part, wanted)).map(requestItem)),
    inParts('engagements', async (part) => (await engagementsById(sql, accountId, part, wanted)).map(engagementItem)),
  ]);
  return parts.flat();
}

async function ticketItems(
  { sql, turns }: Sources,
  accountId: AccountId,
  ids: readonly string[],
  wanted: Wanted,
): Promise<Item[]> {
  const rows = await ticketsById(sql, accountId, ids, wanted);
  const active = rows.filter(({ state }) => state === 'waiting' || state === 'offered').map(({ id }) => id);
  const views = new Map((await lookAt(turns, accountId, active)).map((view) => [view.id, view]));
  return rows.map(({ kind, holder, ...row }) => {
    const view = views.get(row.id) ?? null;
    const shown = showTicket(view === null ? row : { ...row, state: view.state, queue_ids: [...view.queueIds] }, view);
    const about = { siteId: row.site_id, visitorId: row.visitor_id, operatorId: holder };
    return kind === 'visitor'
      ? itemAbout('queue_ticket.state', shown, about)
      : itemAbout('transfer_ticket.state', showTransferTicket(shown), about);
  });
}

export async function lookAt(turns: Turns, accountId: AccountId, ticketIds: readonly TicketId[]) {
  return ticketIds.length === 0 ? [] : turns.run(accountId, { name: 'viewTickets', ticketIds });
}

function requestItem(row: Awaited<ReturnType<typeof requestsById>>[number]): Item {
  const { kind, holder } = row;
  const item =
    kind === 'transfer'
      ? itemAbout('transfer_request.state', showTransferRequest(row), row)
      : itemAbout('engagement_request.state', showRequest(row), row);
  // The operator who hands a visitor on waits for the answer.
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
