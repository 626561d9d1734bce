import type { Clock } from '../platform/clock-watch.ts';
import { inTransaction, type Sql } from '../platform/database.ts';
import { Refusal } from '../platform/errors.ts';
import { newId, type AccountId, type EngagementId, type VisitorId } from '../platform/ids.ts';
import { nextDue, takeChanges, type Board } from './board/board.ts';
import { isEmpty } from './board/structures/changes.ts';
import { apply, type Command, type CommandName, type Commands } from './board/commands.ts';
import type { VisitorFacts } from './board/rules/enqueue.ts';
import { advance } from './board/rules/advance.ts';
import type { MediaUpgrade } from './board/rules/upgrading.ts';
import { movedBetween } from './board-moves.ts';
import { catchUp, loadBoard } from './load-board.ts';
import { settleTime } from './move-times.ts';
import {
  existingIds,
  lockEngagements,
  lockForTurn,
  mediaUpgrades,
  movesSince,
  visitorFacts,
  type LockedAccount,
} from './turn-store.ts';
import { whatMoved } from './turn-rows.ts';
import { writeNextDue, writeTurn } from './write-turn.ts';

/** What is asked of a board, before the database has told what it knows of the visitor. */
export type Order<Name extends CommandName = CommandName> = {
  [Each in Name]: { readonly name: Each } & Omit<Commands[Each]['input'], 'facts' | 'upgrade'> & {
      /** The visitor of whom the board must be told, where the command does not name it. */
      readonly factsOf?: VisitorId;
      /** The id was made of an idempotency key: what it names may exist already. */
      readonly repeatable?: boolean;
    };
}[Name];

export interface Job {
  readonly order: Order;
  readonly done: (answer: unknown) => void;
  readonly failed: (error: unknown) => void;
}

/** A board and the version of the account that it shows. */
export interface CachedBoard {
  readonly board: Board;
  readonly version: number;
}

export interface TurnOutcome {
  /** The board as it is now; `null`: the account has none, or the turn was not needed. */
  readonly cached: CachedBoard | null;
  /** What to call once the turn is known to have been written. */
  readonly answers: readonly (() => void)[];
  /** Milliseconds until the next thing falls due, as the database's clock has it. */
  readonly dueInMs: number | null;
  /** What was written that others may have in memory. */
  readonly moved: ReturnType<typeof whatMoved>;
}

/** A turn that lost a deadlock has changed its board: `Turns` takes it again with another. */
const usesUpItsBoard = { afterLostRace: 'reject' } as const;

/**
 * One turn: the orders are carried out on the account's board and written, in one transaction under the account's row.
 *
 *   lock      the row, and in the same breath read what must be known of the visitors concerned;
 *   settle    the time: if the clock was stepped, everything on the board is moved along (move-times.ts);
 *   catch up  if the row's version is not the board's: read what moved since, or everything;
 *   apply     each order, at the database's time;
 *   write     all changes and events in one statement, with the new version.
 *
 * The board given is used up: it comes back in the outcome, and where the transaction fails it shows what never was.
 */
export async function takeTurn(
  { sql: pool, clock }: { readonly sql: Sql; readonly clock: Clock },
  accountId: AccountId,
  cached: CachedBoard | null,
  jobs: readonly Job[],
): Promise<TurnOutcome> {
  const onlyIfDue = jobs.every(({ order }) => order.name === 'tick');
  return inTransaction(
    pool,
    async (sql) => {
      const askedAt = performance.now();
      // Sent together; the second waits for the lock of the first.
      const [locked, facts, existing, upgrades] = await Promise.all([
        lockForTurn(sql, accountId, onlyIfDue),
        visitorFacts(sql, accountId, visitorsOf(jobs)),
        existingIds(sql, repeatable(jobs)),
        mediaUpgrades(sql, upgradesOf(jobs)),
        lockEngagements(sql, callsOf(jobs)),
      ]);
      if (locked === null)
        return { cached: null, answers: jobs.map((job) => () => job.done(null)), dueInMs: null, moved: null };
      const time = await settleTime(sql, clock, locked, askedAt);
      const { now } = time;
      const board = await currentBoard(sql, accountId, time.isMoved ? null : cached, time);
      advance(board, now);
      const answers = jobs.map((job) => carryOut(board, job, now, { facts, existing, upgrades }));
      return write(sql, board, time, answers);
    },
    usesUpItsBoard,
  );
}

async function currentBoard(
  sql: Sql,
  accountId: AccountId,
  cached: CachedBoard | null,
  { version, seq, now }: LockedAccount,
): Promise<Board> {
  const board = cached === null ? null : await caughtUp(sql, accountId, cached, version);
  const current = board ?? (await loadBoard(sql, accountId, now));
  current.seq = Math.max(current.seq, seq);
  return current;
}

/** `null`: it cannot be told what moved. */
async function caughtUp(
  sql: Sql,
  accountId: AccountId,
  { board, version }: CachedBoard,
  stored: number,
): Promise<Board | null> {
  if (version === stored) return board;
  const moves = movedBetween(await movesSince(sql, accountId, version), { from: version, to: stored });
  if (moves === null) return null;
  await catchUp(board, sql, accountId, moves);
  return board;
}

interface OrderFacts {
  readonly facts: ReadonlyMap<VisitorId, VisitorFacts>;
  readonly existing: ReadonlyMap<string, 'same' | 'taken'>;
  readonly upgrades: ReadonlyMap<string, MediaUpgrade>;
}

/** Refusals are answers too: they are told once it is certain that what led to them is written. */
function carryOut(board: Board, job: Job, now: number, { facts, existing, upgrades }: OrderFacts): () => void {
  const { done, failed } = job;
  const known = 'id' in job.order ? existing.get(job.order.id) : undefined;
  if (known === 'same') return () => done(null);
  const order = known === 'taken' ? ({ ...job.order, id: newId() } as Order) : job.order;
  try {
    const visitorId = visitorOf(order);
    const told = visitorId === undefined ? undefined : facts.get(visitorId);
    if (visitorId !== undefined && told === undefined)
      throw new Refusal('not_found', `There is no visitor ${visitorId}.`);
    const upgrade = order.name === 'acceptUpgrade' ? { upgrade: upgrades.get(order.upgradeId) } : {};
    const answer = apply(
      board,
      { ...order, ...upgrade, ...(told === undefined ? {} : { facts: told }) } as Command,
      now,
    );
    return () => done(answer);
  } catch (error) {
    if (error instanceof Refusal) return () => failed(error);
    throw error;
  }
}

async function write(
  sql: Sql,
  board: Board,
  { accountId, version, nextVersion, seq, now, nextDueAt }: LockedAccount,
  answers: readonly (() => void)[],
): Promise<TurnOutcome> {
  const changes = takeChanges(board);
  const due = nextDue(board);
  const mark = {
    accountId,
    version: nextVersion,
    previous: version,
    seq: board.seq,
    now,
    nextDueAt: dueToStore(nextDueAt, due, now),
  };
  const dueInMs = due === null ? null : Math.max(0, due - now);
  if (isEmpty(changes) && board.seq === seq) {
    if (mark.nextDueAt !== nextDueAt) await writeNextDue(sql, mark);
    return { cached: { board, version }, answers, dueInMs, moved: null };
  }
  await writeTurn(sql, mark, changes);
  return { cached: { board, version: mark.version }, answers, dueInMs, moved: whatMoved(changes) };
}

/** Waking up too early costs a look, so what is stored is only moved when it would be too late, or has passed. */
function dueToStore(stored: number | null, due: number | null, now: number): number | null {
  if (stored === null || due === null) return stored !== null && stored > now ? stored : due;
  return due < stored || stored <= now ? due : stored;
}

function visitorOf(order: Order): VisitorId | undefined {
  switch (order.name) {
    case 'enqueue':
    case 'requestDirectly':
      return order.visitorId;
    case 'transferToQueue':
      return order.factsOf;
    default:
      return undefined;
  }
}

function visitorsOf(jobs: readonly Job[]): VisitorId[] {
  return [...new Set(jobs.flatMap(({ order }) => visitorOf(order) ?? []))];
}

function upgradesOf(jobs: readonly Job[]): string[] {
  return jobs.flatMap(({ order }) => (order.name === 'acceptUpgrade' ? [order.upgradeId] : []));
}

/** Engagements in which somebody hangs up. */
function callsOf(jobs: readonly Job[]): EngagementId[] {
  return jobs.flatMap(({ order }) => (order.name === 'endCall' ? [order.engagementId] : []));
}

function repeatable(jobs: readonly Job[]): string[] {
  return jobs.flatMap(({ order }) => (order.repeatable === true && 'id' in order ? [order.id] : []));
}
