import type { Sql } from '../../../packages/server/src/platform/database/database.ts';
import type { Link } from './gate.ts';
import type { Exchange } from './wire.ts';
import type { Random } from './random.ts';

/** Something that may happen next. */
export interface Step {
  readonly name: string;
  readonly run: () => void | Promise<void>;
  /** How much more probable than others. */
  readonly weight?: number;
}

/** So many rounds of the event loop without activity: what a process does after an answer takes two or three. */
const quietRounds = 8;
/** A statement that is not answered by then may wait for a lock, so PostgreSQL is asked. */
const graceMs = 10;
/** Nothing that a step begins takes longer. */
const patienceMs = 20_000;

/** The real ones, whatever processes of the simulation are given. */
const { setTimeout: startTimer, clearTimeout: stopTimer } = globalThis;
const realNow = performance.now.bind(performance);

/**
 * Runs one step at a time, drawn from those that are possible, and waits until everything that follows from it has happened: the
 * processes have sent what they send next, and PostgreSQL has answered or waits for a lock. So the history depends on the draws alone.
 */
export class Scheduler {
  readonly #random: Random;
  readonly #links: () => readonly Link[];
  readonly #sessionsOf: (pids: readonly number[]) => Promise<Session[]>;
  /** The names of the steps so far. */
  readonly history: string[] = [];
  #activity = 0;
  /** Links whose statement waits for a lock, and when that was found. */
  #parked: ReadonlySet<Link> = new Set();
  #checkedAt = -1;
  /** Cut links whose session PostgreSQL has ended: until then it may hold locks. */
  readonly #ended = new Set<Link>();
  #wake: (() => void) | null = null;

  constructor(options: { sql: Sql; random: Random; links: () => readonly Link[] }) {
    this.#sessionsOf = async (pids) => sessionsOf(options.sql, pids);
    this.#random = options.random;
    this.#links = options.links;
  }

  readonly onActivity = (): void => {
    this.#activity += 1;
    this.#wake?.();
  };

  /** What waits for a lock. */
  get parked(): Iterable<Exchange> {
    return [...this.#parked].flatMap(({ running }) => running ?? []);
  }

  /** Runs one of the steps. Returns false if there is none. */
  async runOne(steps: readonly Step[]): Promise<boolean> {
    const step = this.#draw(steps);
    if (step === null) return false;
    this.history.push(step.name);
    await step.run();
    await this.settle();
    return true;
  }

  #draw(steps: readonly Step[]): Step | null {
    const total = steps.reduce((sum, { weight = 1 }) => sum + weight, 0);
    let rest = this.#random.next() * total;
    for (const step of steps) {
      rest -= step.weight ?? 1;
      if (rest < 0) return step;
    }
    return steps.at(-1) ?? null;
  }

  /** Waits until nothing happens before the next step. */
  async settle(): Promise<void> {
    const began = realNow();
    for (;;) {
      await this.#processesAreQuiet();
      if (await this.#databaseIsQuiet()) return;
      if (realNow() - began > patienceMs) throw new Error('a step of the simulation does not end');
    }
  }

  async #processesAreQuiet(): Promise<void> {
    let seen = this.#activity;
    for (let round = 0; round < quietRounds; round += 1) {
      await new Promise((resolve) => setImmediate(resolve));
      if (this.#activity !== seen) round = 0;
      seen = this.#activity;
    }
  }

  /** Whether every statement that PostgreSQL has waits for a lock, and no session of a lost connection is left. */
  async #databaseIsQuiet(): Promise<boolean> {
    const links = this.#links();
    const running = links.filter((link) => link.running !== null);
    const closing = links.filter((link) => link.isCut && link.running === null && !this.#ended.has(link));
    if (running.some((link) => !this.#parked.has(link)) && (await this.#happens())) return false;
    // A statement that waits for a lock waits until another statement ends.
    const isSettled = running.every((link) => this.#parked.has(link)) && closing.length === 0;
    if (isSettled && (running.length === 0 || this.#checkedAt === this.#activity)) return true;
    this.#checkedAt = this.#activity;
    const pids = [...running, ...closing].flatMap(({ pid }) => pid ?? []);
    const sessions = await this.#sessionsOf(pids);
    const isBlocked = new Map<number | null, boolean>(sessions.map((session) => [session.pid, session.isBlocked]));
    for (const link of closing) if (link.isGone && !isBlocked.has(link.pid)) this.#ended.add(link);
    this.#parked = new Set(running.filter(({ pid }) => isBlocked.get(pid) === true));
    return this.#parked.size === running.length && closing.every((link) => this.#ended.has(link));
  }

  /** Whether something happens within the grace time. */
  async #happens(): Promise<boolean> {
    const before = this.#activity;
    await new Promise<void>((resolve) => {
      const timer = startTimer(resolve, graceMs);
      this.#wake = () => {
        stopTimer(timer);
        resolve();
      };
    });
    this.#wake = null;
    return this.#activity !== before;
  }
}

interface Session {
  readonly pid: number;
  /** It waits for a lock of another session. The server updates this as soon as the lock is released. */
  readonly isBlocked: boolean;
}

/** Those of the sessions that PostgreSQL has not ended. */
async function sessionsOf(sql: Sql, pids: readonly number[]): Promise<Session[]> {
  return sql<Session[]>`
    SELECT pid, cardinality(pg_blocking_pids(pid)) > 0 AS "isBlocked"
      FROM pg_stat_activity WHERE pid = ANY(${[...pids]}::integer[])`;
}
