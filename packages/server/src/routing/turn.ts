import type { Clock } from '../platform/clock/clock-watch.ts';
import type { NewVisitor } from '../identity/visitors/store.ts';
import { inTransaction, type Finish, type Sql } from '../platform/database/database.ts';
import { Refusal } from '../platform/errors.ts';
import { newId, type AccountId, type EngagementId, type VisitorId } from '../platform/ids.ts';
import type { TraceContext } from '../platform/watching/trace-context.ts';
import { nextDue, takeChanges, type Board } from './board/board.ts';
import { isEmpty, type Visit } from './board/structures/changes.ts';
import { apply, type Command, type CommandName, type Commands } from './board/commands.ts';
import type { VisitorFacts } from './board/rules/enqueue.ts';
import { advance } from './board/rules/advance.ts';
import { excuseOutage } from './board/rules/outage.ts';
import type { MediaUpgrade } from './board/rules/upgrading.ts';
import { changesBetween, outdatedBy } from './board-changes.ts';
import { catchUp, loadBoard } from './load-board.ts';
import { correctTimes, type TurnTime } from './move-times.ts';
import type { ReportedStates } from './on-demand/subjects.ts';
import { ticketEvents } from './on-demand/ticket-events.ts';
import {
  isEmptyReport,
  nothingToReport,
  reportStates,
  watchStates,
  type StateWatch,
} from './on-demand/watch-states.ts';
import {
  existingIds,
  lockEngagements,
  lockForTurn,
  mediaUpgrades,
  changesSince,
  visitorFacts,
  type LockedAccount,
} from './turn-store.ts';
import { writeNextDue, writeTurn, type Turn } from './write-turn.ts';

/** A command before the turn has read from the database what it needs: the facts of the visitor, the media upgrade. */
export type RequestedCommand<Name extends CommandName = CommandName> = {
  [Each in Name]: { readonly name: Each } & Omit<Commands[Each]['input'], 'facts' | 'upgrade'> & {
      /** The visitor whose facts the command needs, if it does not name them itself. */
      readonly factsOf?: VisitorId;
      /** The id was derived from an idempotency key, so a ticket or request with this id may exist already. */
      readonly repeatable?: boolean;
      /** D5.7: the visitor of the ticket or request, whom the turn inserts with it. */
      readonly newVisitor?: NewVisitor | null;
    };
}[Name];

export interface PendingCommand {
  readonly command: RequestedCommand;
  readonly done: (answer: unknown) => void;
  readonly failed: (error: unknown) => void;
  /** The trace of the request that gave the command. */
  readonly trace?: TraceContext | null;
}

/** A board in memory, and the version of the account's board that it shows. */
export interface CachedBoard {
  readonly board: Board;
  readonly version: number;
  /** What was last reported of queues and operators; `null`: to be read, if somebody subscribes. */
  readonly reported: ReportedStates | null;
}

export interface TurnOutcome {
  /** The board after the turn; `null`: the account does not exist, or nothing was due. */
  readonly cached: CachedBoard | null;
  /** To be called once the turn is committed. */
  readonly answers: readonly (() => void)[];
  /** Milliseconds until the next deadline, by the database's clock. */
  readonly dueInMs: number | null;
  /** What was written that `SiteQueues` may have cached. If something was, the other processes have been sent the hint. */
  readonly outdated: ReturnType<typeof outdatedBy>;
  /** The stays in queues that ended. */
  readonly visits: readonly Visit[];
  /** The turn has raised the version of the board. A board that only caught up with other processes has not. */
  readonly isWritten: boolean;
}

export interface TurnDependencies {
  /** A separate pool: a request may hold a connection of the main pool while it waits for its turn. */
  readonly sql: Sql;
  readonly clock: Clock;
  /** The hint to readers of the log in other processes, as the payload of a NOTIFY. A turn sends it if it notifies them anyway. */
  readonly hintOf?: (accountId: AccountId) => string;
}

/** A turn that lost a deadlock has already mutated its board, so it is not retried here: `Turns` retries it with a fresh board. */
const noRetry = { afterLostRace: 'reject' } as const;

/**
 * Takes one turn: applies the commands to the account's board and writes the result, in one transaction that locks the account's row.
 *
 *   lock      the row, and in the same round trip read the facts of the visitors concerned;
 *   correct   the times: if the clock was stepped, move every time on the board (move-times.ts);
 *   catch up  if the version of the row is not the board's: read the rows that changed since, or everything;
 *   excuse    outages of the service: leases and offers do not count them (D5.15);
 *   apply     each command, at the database's time;
 *   write     all changes and events in one statement, with the new version.
 *
 * The turn mutates the cached board. It is valid again only through the outcome: after a failed transaction it shows a state that
 * was never committed.
 */
export async function takeTurn(
  { sql: pool, clock, hintOf }: TurnDependencies,
  accountId: AccountId,
  cached: CachedBoard | null,
  commands: readonly PendingCommand[],
): Promise<TurnOutcome> {
  const onlyIfDue = commands.every(({ command }) => command.name === 'tick');
  return inTransaction(
    pool,
    async (sql, finish) => {
      const askedAt = performance.now();
      // Sent together; the later statements wait for the lock of the first.
      const [locked, facts, existing, upgrades] = await Promise.all([
        lockForTurn(sql, accountId, onlyIfDue),
        visitorFacts(sql, accountId, visitorsOf(commands)),
        existingIds(sql, repeatable(commands)),
        mediaUpgrades(sql, upgradesOf(commands)),
        lockEngagements(sql, callsOf(commands)),
      ]);
      if (locked === null)
        return {
          cached: null,
          answers: commands.map((pending) => () => pending.done(null)),
          dueInMs: null,
          outdated: null,
          visits: [],
          isWritten: false,
        };
      const time = await correctTimes(sql, clock, locked, askedAt);
      const { now } = time;
      const board = await currentBoard(sql, accountId, time.isMoved ? null : cached, time);
      const isCurrent = cached !== null && !time.isMoved && cached.version === time.version;
      const known = isCurrent ? cached.reported : null;
      const watch = await watchStates(sql, board, { accountId, onDemand: time.onDemand, known });
      const { excuseMs: outageMs, turnedAt: lastTurnAt } = time;
      // Without a turn, nothing is on the board.
      if (outageMs > 0 && lastTurnAt !== null) excuseOutage(board, { outageMs, lastTurnAt });
      advance(board, now);
      const traces = new Map<string, TraceContext>();
      const newVisitors: NewVisitor[] = [];
      const answers = commands.map((pending) => {
        const before = board.changes.events.length;
        const answer = carryOut(board, pending, now, { facts, existing, upgrades, newVisitors });
        const { trace = null } = pending;
        // What the command led to at once, such as an offer to an operator, belongs to its trace.
        if (trace !== null) for (const { id } of board.changes.events.slice(before)) traces.set(id, trace);
        return answer;
      });
      return write(sql, board, time, {
        answers,
        traces,
        newVisitors,
        watch,
        hint: hintOf?.(accountId) ?? null,
        finish,
      });
    },
    noRetry,
  );
}

async function currentBoard(
  sql: Sql,
  accountId: AccountId,
  cached: CachedBoard | null,
  { version, seq, now }: LockedAccount,
): Promise<Board> {
  const board = cached === null ? null : await bringUpToDate(sql, accountId, cached, version);
  const current = board ?? (await loadBoard(sql, accountId, now));
  current.seq = Math.max(current.seq, seq);
  return current;
}

/** `null`: it is unknown what changed since. */
async function bringUpToDate(
  sql: Sql,
  accountId: AccountId,
  { board, version }: CachedBoard,
  stored: number,
): Promise<Board | null> {
  if (version === stored) return board;
  const moves = changesBetween(await changesSince(sql, accountId, version), { from: version, to: stored });
  if (moves === null) return null;
  await catchUp(board, sql, accountId, moves);
  return board;
}

interface CommandFacts {
  readonly facts: ReadonlyMap<VisitorId, VisitorFacts>;
  readonly existing: ReadonlyMap<string, 'same' | 'taken'>;
  readonly upgrades: ReadonlyMap<string, MediaUpgrade>;
  /** `carryOut` adds the new visitors of commands that were not refused. */
  readonly newVisitors: NewVisitor[];
}

/** What is known of the visitor whom the command concerns; `undefined` if it concerns none. */
function factsFor(command: RequestedCommand, facts: CommandFacts['facts']): VisitorFacts | undefined {
  const { newVisitor } = command;
  if (newVisitor)
    return { siteId: newVisitor.siteId, teams: newVisitor.teamIds, leaseUntil: null, lastOperatorId: null };
  const visitorId = visitorOf(command);
  const known = visitorId === undefined ? undefined : facts.get(visitorId);
  if (visitorId !== undefined && known === undefined)
    throw new Refusal('not_found', `There is no visitor ${visitorId}.`);
  return known;
}

/** Returns the function that answers the command. Refusals too are answered after the commit, when the state they rest on is certain. */
function carryOut(
  board: Board,
  pending: PendingCommand,
  now: number,
  { facts, existing, upgrades, newVisitors }: CommandFacts,
): () => void {
  const { done, failed } = pending;
  const known = 'id' in pending.command ? existing.get(pending.command.id) : undefined;
  if (known === 'same') return () => done(null);
  const command = known === 'taken' ? ({ ...pending.command, id: newId() } as RequestedCommand) : pending.command;
  try {
    const visitor = factsFor(command, facts);
    const upgrade = command.name === 'acceptUpgrade' ? { upgrade: upgrades.get(command.upgradeId) } : {};
    const answer = apply(
      board,
      { ...command, ...upgrade, ...(visitor === undefined ? {} : { facts: visitor }) } as Command,
      now,
    );
    if (command.newVisitor) newVisitors.push(command.newVisitor);
    return () => done(answer);
  } catch (error) {
    if (error instanceof Refusal) return () => failed(error);
    throw error;
  }
}

/** What the commands of a turn have led to, besides the changes of the board. */
interface Results extends Pick<Turn, 'traces' | 'newVisitors' | 'hint'> {
  readonly answers: TurnOutcome['answers'];
  readonly watch: StateWatch | null;
  readonly finish: Finish;
}

async function write(
  sql: Sql,
  board: Board,
  { accountId, version, nextVersion, seq, now, nextDueAt, onDemand, isMoved }: TurnTime,
  { answers, traces, newVisitors, watch, hint, finish }: Results,
): Promise<TurnOutcome> {
  const changes = takeChanges(board);
  const report = watch === null ? nothingToReport : reportStates(board, changes, watch);
  const reported = watch?.reported ?? null;
  const due = nextDue(board);
  const dueAt = dueToStore(nextDueAt, due, now);
  const dueInMs = due === null ? null : Math.max(0, due - now);
  // A report raises the version, so that other processes read what was reported.
  if (isEmpty(changes) && board.seq === seq && isEmptyReport(report)) {
    if (dueAt !== nextDueAt) await writeNextDue(sql, accountId, dueAt);
    return { cached: { board, version, reported }, answers, dueInMs, outdated: null, visits: [], isWritten: isMoved };
  }
  const turn = {
    accountId,
    version: nextVersion,
    previous: version,
    seq: board.seq,
    now,
    nextDueAt: dueAt,
    hint,
    traces,
    newVisitors,
    ticketEvents: ticketEvents(changes, onDemand),
    report,
  };
  await writeTurn(sql, turn, changes, finish);
  return {
    cached: { board, version: nextVersion, reported },
    answers,
    dueInMs,
    outdated: outdatedBy(changes),
    visits: changes.visits,
    isWritten: true,
  };
}

/** Waking up too early costs little. The stored instant is therefore only changed when it has passed or would be too late. */
function dueToStore(stored: number | null, due: number | null, now: number): number | null {
  if (stored === null || due === null) return stored !== null && stored > now ? stored : due;
  return due < stored || stored <= now ? due : stored;
}

function visitorOf(command: RequestedCommand): VisitorId | undefined {
  switch (command.name) {
    case 'enqueue':
    case 'requestDirectly':
      return command.visitorId;
    case 'transferToQueue':
      return command.factsOf;
    default:
      return undefined;
  }
}

function visitorsOf(commands: readonly PendingCommand[]): VisitorId[] {
  return [...new Set(commands.flatMap(({ command }) => visitorOf(command) ?? []))];
}

function upgradesOf(commands: readonly PendingCommand[]): string[] {
  return commands.flatMap(({ command }) => (command.name === 'acceptUpgrade' ? [command.upgradeId] : []));
}

/** Engagements in which one side hangs up. */
function callsOf(commands: readonly PendingCommand[]): EngagementId[] {
  return commands.flatMap(({ command }) => (command.name === 'endCall' ? [command.engagementId] : []));
}

function repeatable(commands: readonly PendingCommand[]): string[] {
  return commands.flatMap(({ command }) => (command.repeatable === true && 'id' in command ? [command.id] : []));
}
