import { newBoard, takeChanges, type Board } from '../packages/server/src/routing/board/board.ts';
import { apply, type Command } from '../packages/server/src/routing/board/commands.ts';
import { putSite } from '../packages/server/src/routing/storage/site.ts';
import { putOperator, putQueue } from '../packages/server/src/routing/board/rules/staffing.ts';
import {
  newId,
  type EngagementId,
  type OperatorId,
  type QueueId,
  type RequestId,
  type SiteId,
  type TeamId,
  type TicketId,
  type VisitorId,
} from '../packages/server/src/platform/ids.ts';

/** The size of the board's account. */
export interface BoardSize {
  readonly operators: number;
  readonly queues: number;
  readonly waiting: number;
  /** How many commands one measurement applies. */
  readonly commands: number;
}

const teams = 50;
/** A turn under load applies about this many commands before it takes the changes. */
const commandsInTurn = 100;
const notes = { source: null, platform: 'web', mediaOptions: null, message: null, webhooks: [] };
const now = Date.UTC(2027, 0, 4, 12);

/** A board on which every operator is engaged and visitors wait. */
interface Floor {
  readonly board: Board;
  readonly siteId: SiteId;
  readonly queues: readonly { readonly id: QueueId; readonly team: TeamId }[];
  /** Each operator with their engagement. */
  readonly engagements: { operator: OperatorId; engagement: EngagementId }[];
}

function openFloor({ operators, queues, waiting }: BoardSize): Floor {
  const board = newBoard(newId);
  board.now = now;
  const siteId = newId<SiteId>();
  const teamIds = Array.from({ length: teams }, () => newId<TeamId>());
  const teamOf = (n: number): TeamId => teamIds[n % teams] ?? newId();
  putSite(board, {
    id: siteId,
    reactiveMs: 30_000,
    proactiveMs: 15_000,
    missedMakesUnavailable: true,
    callsBesideChats: true,
    ticketTimeoutMs: 14_400_000,
    openPerAddress: 10,
    ticketNeedsPresence: false,
  });
  const made = Array.from({ length: queues }, (_, n) => ({ id: newId<QueueId>(), team: teamOf(n) }));
  for (const queue of made) {
    putQueue(
      board,
      {
        id: queue.id,
        siteId,
        media: 15,
        teams: [queue.team],
        capacityPolicy: { type: 'fixed', capacity: 1_000_000 },
        whenUnstaffed: 'accept',
        rankingEnabled: false,
        ranks: new Map(),
        affinityMs: null,
        fallbackId: null,
        hours: null,
        welcomeMessage: null,
      },
      { lastStatus: 'opened', waits: [], paceMs: null, leftOthersAt: null },
    );
  }
  for (let n = 0; n < operators; n += 1) {
    const sites = new Map([[siteId, new Set([teamOf(n), teamOf(n * 7 + 1)])]]);
    const presence = { enabled: true, available: true, media: 15, leaseUntil: null, maxEngagements: 1 };
    putOperator(board, { id: newId<OperatorId>(), sites, ...presence }, 0);
  }
  const floor: Floor = { board, siteId, queues: made, engagements: [] };
  for (let n = 0; n < operators; n += 1) {
    apply(board, arrival(floor, n), now);
    for (const request of Array.from(board.requests.values()))
      accept(floor, request.id, request.operator.settings.id, floor.engagements.length);
    if (n % commandsInTurn === 0) takeChanges(board);
  }
  for (let n = operators; n < operators + waiting; n += 1) {
    apply(board, arrival(floor, n), now);
    if (n % commandsInTurn === 0) takeChanges(board);
  }
  takeChanges(board);
  return floor;
}

function arrival({ siteId, queues }: Floor, n: number): Command<'enqueue'> {
  const queue = queues[(n * 31) % queues.length];
  if (queue === undefined) throw new Error('there are no queues');
  return {
    name: 'enqueue',
    id: newId<TicketId>(),
    siteId,
    visitorId: newId<VisitorId>(),
    medium: 'text',
    queueIds: [queue.id],
    requiredTeams: [],
    facts: { siteId, teams: [queue.team], leaseUntil: null, lastOperatorId: null },
    notes,
    address: null,
  };
}

function accept({ board, engagements }: Floor, requestId: RequestId, operator: OperatorId, at: number): void {
  const command = {
    name: 'answer',
    requestId,
    action: 'accept',
    by: { kind: 'operator', id: operator },
    error: null,
  } as const;
  const { engagementId } = apply(board, command, now) ?? {};
  if (!engagementId) throw new Error('the offer could not be accepted');
  engagements[at] = { operator, engagement: engagementId };
}

/**
 * Processor time of a command, in µs. An operator ends an engagement, gets an offer for the longest waiting visitor and accepts;
 * then a new visitor arrives.
 */
export function boardCommandMicros(size: BoardSize): () => number {
  const floor = openFloor(size);
  const { board, engagements } = floor;
  let arrivals = 0;
  return () => {
    const before = process.threadCpuUsage();
    let commands = 0;
    while (commands < size.commands) {
      for (let n = 0; n < commandsInTurn; n += 3) {
        const at = (arrivals * 7_919) % engagements.length;
        const { operator, engagement } = engagements[at] ?? {};
        if (operator === undefined || engagement === undefined) throw new Error('no operator is engaged');
        const by = { kind: 'operator', id: operator } as const;
        apply(board, { name: 'end', engagementId: engagement, by, error: false }, now);
        const [offer] = apply(board, { name: 'viewRequests', operatorId: operator }, now);
        if (offer === undefined) throw new Error('a free operator got no offer although visitors wait');
        accept(floor, offer.id, operator, at);
        apply(board, arrival(floor, (arrivals += 1)), now);
        commands += 4;
      }
      takeChanges(board);
    }
    const { user, system } = process.threadCpuUsage(before);
    return (user + system) / commands;
  };
}
