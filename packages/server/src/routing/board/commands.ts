import type { OperatorId, TicketId, VisitorId } from '../../platform/ids.ts';
import {
  answer,
  answerTransfer,
  cancelTicket,
  notOnBoard,
  end,
  type Answer,
  type CancelTicket,
  type EndEngagement,
} from './rules/answering.ts';
import {
  requestDirectly,
  transferToOperator,
  transferToQueue,
  type DirectRequest,
  type TransferToOperator,
  type TransferToQueue,
} from './rules/new-requests.ts';
import type { Board } from './board.ts';
import { enqueue, type Enqueue } from './rules/enqueue.ts';
import {
  renewPresence,
  setPresence,
  setVisitorPresence,
  type Presence,
  type Renewal,
  type VisitorPresence,
} from './rules/presence.ts';
import { advance, settle } from './rules/advance.ts';
import {
  acceptUpgrade,
  checkCall,
  endCall,
  type AcceptUpgrade,
  type CheckCall,
  type EndCall,
} from './rules/upgrading.ts';
import {
  viewEngagement,
  viewRequest,
  viewTicket,
  type EngagementView,
  type RequestView,
  type TicketView,
} from './views/views.ts';

/** Every command of the board, with its input and its answer. */
export interface Commands {
  enqueue: { input: Enqueue; answer: { ticket: TicketView; created: boolean } };
  cancelTicket: { input: CancelTicket; answer: TicketView | null };
  requestDirectly: { input: DirectRequest; answer: RequestView };
  answer: { input: Answer; answer: RequestView | null };
  transferToOperator: { input: TransferToOperator; answer: RequestView };
  transferToQueue: { input: TransferToQueue; answer: TicketView };
  answerTransfer: { input: Answer; answer: RequestView | null };
  end: { input: EndEngagement; answer: EngagementView | null };
  acceptUpgrade: { input: AcceptUpgrade; answer: EngagementView | null };
  endCall: { input: EndCall; answer: EngagementView | null };
  setPresence: { input: Presence; answer: null };
  setVisitorPresence: { input: VisitorPresence; answer: null };
  renewPresence: { input: Renewal; answer: null };
  tick: { input: Record<never, never>; answer: null };
  /** Read-only. */
  checkCall: { input: CheckCall; answer: EngagementView | null };
  viewTicket: { input: { readonly ticketId: TicketId }; answer: TicketView | null };
  viewTickets: { input: { readonly ticketIds: readonly TicketId[] }; answer: readonly TicketView[] };
  viewRequests: {
    input: { readonly operatorId?: OperatorId; readonly visitorId?: VisitorId };
    answer: readonly RequestView[];
  };
}

export type CommandName = keyof Commands;
export type Command<Name extends CommandName = CommandName> = {
  [Each in Name]: { readonly name: Each } & Commands[Each]['input'];
}[Name];

/**
 * Runs a command at an instant, and settles the board. Throws a `Refusal` if the command is not allowed; the command has then
 * changed nothing. Answers `null` if the resource is not on the board or not the caller's.
 */
export function apply<Name extends CommandName>(
  board: Board,
  command: Command<Name>,
  now: number,
): Commands[Name]['answer'] {
  advance(board, now);
  return carryOut(board, command as Command);
}

/** Each answer is built after the board is settled, when a new ticket may already be offered. */
function carryOut(board: Board, command: Command): Commands[CommandName]['answer'] {
  switch (command.name) {
    case 'enqueue': {
      const { ticket, created } = enqueue(board, command);
      settle(board);
      return { ticket: viewTicket(ticket), created };
    }
    case 'cancelTicket':
      return settled(board, cancelTicket(board, command), viewTicket);
    case 'requestDirectly':
      return settled(board, requestDirectly(board, command), viewRequest);
    case 'answer':
      return settled(board, answer(board, command), viewRequest);
    case 'transferToOperator':
      return settled(board, transferToOperator(board, command), viewRequest);
    case 'transferToQueue':
      return settled(board, transferToQueue(board, command), viewTicket);
    case 'answerTransfer':
      return settled(board, answerTransfer(board, command), viewRequest);
    case 'end':
      return settled(board, end(board, command), viewEngagement);
    case 'acceptUpgrade':
      return settled(board, acceptUpgrade(board, command), viewEngagement);
    case 'endCall':
      return settled(board, endCall(board, command), viewEngagement);
    case 'setPresence':
      setPresence(board, command);
      settle(board);
      return null;
    case 'setVisitorPresence':
      setVisitorPresence(board, command);
      settle(board);
      return null;
    case 'renewPresence':
      renewPresence(board, command);
      settle(board);
      return null;
    case 'tick':
      return null;
    case 'checkCall':
      return viewed(checkCall(board, command), viewEngagement);
    case 'viewTicket':
      return viewed(board.tickets.get(command.ticketId) ?? notOnBoard, viewTicket);
    case 'viewTickets':
      return command.ticketIds.flatMap((id) => board.tickets.get(id) ?? []).map(viewTicket);
    case 'viewRequests':
      return pending(board, command);
  }
}

/** Settles the board after a command changed this object, and views the object. */
function settled<Item, View>(board: Board, item: Item | typeof notOnBoard, view: (item: Item) => View): View | null {
  settle(board);
  return viewed(item, view);
}

function viewed<Item, View>(item: Item | typeof notOnBoard, view: (item: Item) => View): View | null {
  return item === notOnBoard ? null : view(item);
}

function pending(
  board: Board,
  { operatorId, visitorId }: { operatorId?: OperatorId; visitorId?: VisitorId },
): RequestView[] {
  if (operatorId !== undefined) return board.operators.get(operatorId)?.requests.map(viewRequest) ?? [];
  if (visitorId === undefined) return [];
  return (board.visitors.get(visitorId)?.requests ?? []).map(viewRequest);
}
