import type { Sql } from '../platform/database/database.ts';
import { newId, type AccountId, type RequestId, type TicketId } from '../platform/ids.ts';
import { newBoard, type Board } from './board/board.ts';
import type { TurnChanges, ChangedIds } from './board-changes.ts';
import { dropEngagement, putEngagement, readEngagements, type EndedEngagement } from './storage/engagement.ts';
import { putOperators, readOperators } from './storage/operator.ts';
import { memoryOf, putQueueMemory, readQueueStates } from './storage/queue-state.ts';
import { putQueues, queuesOf, readQueues } from './storage/queue.ts';
import { dropRequest, putRequest, readRequests } from './storage/request.ts';
import { putSite, readSites } from './storage/site.ts';
import { dropTicket, putTicket, readTickets } from './storage/ticket.ts';
import { putVisitorLease, readVisitorLeases } from './storage/visitor.ts';

/** Loads the account's board from all its active rows. Must run under the lock of the account's row. */
export async function loadBoard(sql: Sql, accountId: AccountId, now: number): Promise<Board> {
  const board = newBoard(newId);
  board.now = now;
  await put(board, sql, accountId, null);
  return board;
}

/** Brings a board up to date with rows changed by other processes or by a change of the configuration. */
export async function catchUp(
  board: Board,
  sql: Sql,
  accountId: AccountId,
  changes: readonly TurnChanges[],
): Promise<void> {
  const all = (kind: keyof ChangedIds): string[] => [
    ...new Set(changes.flatMap((changedIds) => changedIds[kind] ?? [])),
  ];
  const ended = endedIn(changes);
  const others = (kind: keyof EndedRows): string[] => all(kind).filter((id) => !ended[kind].has(id));
  const changedIds = {
    sites: all('sites'),
    queues: all('queues'),
    queue_states: all('queue_states'),
    policies: all('policies'),
    operators: [...new Set([...all('operators'), ...all('leases')])],
    leases: [],
    visitors: all('visitors'),
    tickets: others('tickets'),
    requests: others('requests'),
    engagements: others('engagements'),
  };
  await put(board, sql, accountId, { changedIds, ended });
}

/** By id. */
interface EndedRows {
  readonly engagements: ReadonlyMap<string, EndedEngagement>;
  readonly tickets: ReadonlyMap<string, TicketId>;
  readonly requests: ReadonlyMap<string, RequestId>;
}

function endedIn(changes: readonly TurnChanges[]): EndedRows {
  const ended = changes.flatMap((each) => each.ended ?? []);
  return {
    engagements: new Map(ended.flatMap(({ engagements }) => engagements.map((each) => [each.id, each]))),
    tickets: new Map(ended.flatMap(({ tickets }) => tickets.map((id) => [id, id]))),
    requests: new Map(ended.flatMap(({ requests }) => requests.map((id) => [id, id]))),
  };
}

interface ChangedRows {
  readonly changedIds: Required<ChangedIds>;
  readonly ended: EndedRows;
}

/** `null` loads everything. The statements are sent together; their rows are put in the order of their dependencies. */
async function put(board: Board, sql: Sql, accountId: AccountId, changed: ChangedRows | null): Promise<void> {
  const { changedIds, ended } = changed ?? { changedIds: null, ended: null };
  const idsOf = (kind: keyof ChangedIds): Ids | null => changedIds?.[kind] ?? null;
  const queueIds = changedIds === null ? null : await queuesOf(sql, changedIds);
  const rowsOf = async <Row, I extends Ids | null>(ids: I, read: Read<Row, I>): Promise<readonly Row[]> =>
    ids?.length === 0 ? [] : read(sql, accountId, ids);
  const [sites, queues, states, operators, visitors, engagements, tickets, requests] = await Promise.all([
    rowsOf(idsOf('sites'), readSites),
    rowsOf(queueIds, readQueues),
    // Without ids, queues and visitors are read with these.
    changedIds === null ? [] : rowsOf(changedIds.queue_states, readQueueStates),
    rowsOf(idsOf('operators'), readOperators),
    changedIds === null ? [] : rowsOf(changedIds.visitors, readVisitorLeases),
    rowsOf(idsOf('engagements'), readEngagements),
    rowsOf(idsOf('tickets'), readTickets),
    rowsOf(idsOf('requests'), readRequests),
  ]);
  for (const site of sites) putSite(board, site);
  await putQueues(board, sql, queues, queueIds ?? []);
  for (const row of states) putQueueMemory(board, row.queue_id, memoryOf(row));
  putOperators(board, operators, idsOf('operators') ?? []);
  for (const engagement of ended?.engagements.values() ?? []) dropEngagement(board, engagement);
  for (const row of engagements) putEngagement(board, row);
  for (const id of ended?.tickets.values() ?? []) dropTicket(board, id);
  for (const row of tickets) putTicket(board, row);
  for (const id of ended?.requests.values() ?? []) dropRequest(board, id);
  for (const row of requests) putRequest(board, row);
  for (const { id, presence_expires_at } of visitors) putVisitorLease(board, id, presence_expires_at);
}

type Ids = readonly string[];
/** With `null`, reads all active rows of the account. */
type Read<Row, I extends Ids | null> = (sql: Sql, accountId: AccountId, ids: I) => Promise<Row[]>;
