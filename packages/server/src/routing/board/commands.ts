import type { OperatorId, TicketId, VisitorId } from '../../platform/ids.ts';
import {
  answer,
  answerTransfer,
  cancelTicket,
  elsewhere,
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
} from './rules/asking.ts';
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
import { advance, settle } from './rules/time.ts';
import { acceptUpgrade, endCall, type AcceptUpgrade, type EndCall } from './rules/upgrading.ts';
import {
  viewEngagement,
  viewRequest,
  viewTicket,
  type EngagementView,
  type RequestView,
  type TicketView,
} from './views/views.ts';

/** Everything that can be asked of a board, and what it answers. */
export interface Commands {
  enqueue: { given: Enqueue; answer: { ticket: TicketView; created: boolean } };
  cancelTicket: { given: CancelTicket; answer: TicketView | null };
  requestDirectly: { given: DirectRequest; answer: RequestView };
  answer: { given: Answer; answer: RequestView | null };
  transferToOperator: { given: TransferToOperator; answer: RequestView };
  transferToQueue: { given: TransferToQueue; answer: TicketView };
  answerTransfer: { given: Answer; answer: RequestView | null };
  end: { given: EndEngagement; answer: EngagementView | null };
  acceptUpgrade: { given: AcceptUpgrade; answer: EngagementView | null };
  endCall: { given: EndCall; answer: EngagementView | null };
  setPresence: { given: Presence; answer: null };
  setVisitorPresence: { given: VisitorPresence; answer: null };
  renewPresence: { given: Renewal; answer: null };
  tick: { given: Record<never, never>; answer: null };
  /** Nothing changes: how things stand. */
  lookAtTicket: { given: { readonly ticketId: TicketId }; answer: TicketView | null };
  lookAtTickets: { given: { readonly ticketIds: readonly TicketId[] }; answer: readonly TicketView[] };
  lookAtRequests: {
    given: { readonly operatorId?: OperatorId; readonly visitorId?: VisitorId };
    answer: readonly RequestView[];
  };
}

export type CommandName = keyof Commands;
export type Command<Name extends CommandName = CommandName> = {
  [Each in Name]: { readonly name: Each } & Commands[Each]['given'];
}[Name];

/**
 * Carries out a command at an instant, and settles the board. Throws a `Refusal` where it cannot be: then nothing has
 * changed. `null` is answered of things that are not on the board, or not the caller's.
 */
export function apply<Name extends CommandName>(
  board: Board,
  command: Command<Name>,
  now: number,
): Commands[Name]['answer'] {
  advance(board, now);
  const view = carryOut(board, command as Command);
  settle(board);
  return view();
}

/** What is answered is looked at once the board is settled: a ticket may have been offered by then. */
function carryOut(board: Board, command: Command): () => Commands[CommandName]['answer'] {
  switch (command.name) {
    case 'enqueue': {
      const { ticket, created } = enqueue(board, command);
      return () => ({ ticket: viewTicket(ticket), created });
    }
    case 'cancelTicket':
      return viewed(cancelTicket(board, command), viewTicket);
    case 'requestDirectly':
      return viewed(requestDirectly(board, command), viewRequest);
    case 'answer':
      return viewed(answer(board, command), viewRequest);
    case 'transferToOperator':
      return viewed(transferToOperator(board, command), viewRequest);
    case 'transferToQueue':
      return viewed(transferToQueue(board, command), viewTicket);
    case 'answerTransfer':
      return viewed(answerTransfer(board, command), viewRequest);
    case 'end':
      return viewed(end(board, command), viewEngagement);
    case 'acceptUpgrade':
      return viewed(acceptUpgrade(board, command), viewEngagement);
    case 'endCall':
      return viewed(endCall(board, command), viewEngagement);
    case 'setPresence':
      setPresence(board, command);
      return () => null;
    case 'setVisitorPresence':
      setVisitorPresence(board, command);
      return () => null;
    case 'renewPresence':
      renewPresence(board, command);
      return () => null;
    case 'tick':
      return () => null;
    case 'lookAtTicket': {
      const ticket = board.tickets.get(command.ticketId);
      return () => (ticket === undefined ? null : viewTicket(ticket));
    }
    case 'lookAtTickets':
      return () => command.ticketIds.flatMap((id) => board.tickets.get(id) ?? []).map(viewTicket);
    case 'lookAtRequests':
      return () => pending(board, command);
  }
}

function viewed<Thing, View>(thing: Thing | typeof elsewhere, view: (thing: Thing) => View): () => View | null {
  return () => (thing === elsewhere ? null : view(thing));
}

function pending(
  board: Board,
  { operatorId, visitorId }: { operatorId?: OperatorId; visitorId?: VisitorId },
): RequestView[] {
  const requests =
    operatorId === undefined
      ? visitorId === undefined
        ? undefined
        : board.visitors.get(visitorId)?.requests
      : board.operators.get(operatorId)?.requests;
  return [...(requests ?? [])].map(viewRequest);
}
