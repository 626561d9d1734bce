import assert from 'node:assert/strict';
import { inTransaction } from '../../../packages/server/src/platform/database/database.ts';
import { advance } from '../../../packages/server/src/routing/board/rules/advance.ts';
import { loadBoard } from '../../../packages/server/src/routing/load-board.ts';
import { createSimulatedAccount, retire, type SimulatedAccount } from './account.ts';
import { SimulatedOperator, SimulatedVisitor } from './clients.ts';
import { describeBoard } from './describe-board.ts';
import { FailedHistory } from './failed-history.ts';
import { Ledger } from './ledger.ts';
import { startProcess, type SimulatedProcess } from './process.ts';
import { randomOf, type Random } from './random.ts';
import { Scheduler, type Step } from './scheduler.ts';
import type { SimulationOptions } from './seeds.ts';
import { runAs, VirtualTimers } from './timers.ts';
import { Traffic } from './traffic.ts';
import { VirtualTime } from './virtual-time.ts';

/** Steps with clients, and the limit for those after the last request of a client. */
const lengthOfHistory = 250;
const lengthOfEnd = 2_000;

/** Runs the history of a seed, checks what Usher promises, and returns the steps. Otherwise rejects with a `FailedHistory`. */
export async function runHistory(options: SimulationOptions): Promise<readonly string[]> {
  const random = randomOf(options.seed);
  const timers = new VirtualTimers();
  const time = await VirtualTime.start(options.sql, random, timers);
  const history = new History(options, { random, timers, time });
  try {
    await history.run();
    await history.close();
  } catch (error) {
    history.abandon();
    throw new FailedHistory(history.names, history.begun, error);
  } finally {
    time.stop();
  }
  return history.names;
}

interface Course {
  readonly random: Random;
  readonly timers: VirtualTimers;
  readonly time: VirtualTime;
}

class History {
  readonly #options: SimulationOptions;
  readonly #random: Random;
  readonly #timers: VirtualTimers;
  readonly #time: VirtualTime;
  readonly #scheduler: Scheduler;
  readonly #processes: SimulatedProcess[] = [];
  readonly #traffic: Traffic;
  #clients: readonly (SimulatedVisitor | SimulatedOperator)[] = [];
  #account: SimulatedAccount | null = null;
  #ledger: Ledger | null = null;
  /** Notifications that were sent and not received, by process. */
  #notified: SimulatedProcess[] = [];
  /** The numbers of the steps with clients and faults so far. */
  readonly begun: number[] = [];
  /** Some histories have no faults. */
  readonly #hasFaults: boolean;

  constructor(options: SimulationOptions, { random, timers, time }: Course) {
    this.#options = options;
    this.#random = random;
    this.#timers = timers;
    this.#time = time;
    const faultRate = random.pick([0, 0.01, 0.05]);
    this.#hasFaults = faultRate > 0;
    this.#traffic = new Traffic({ random, faultRate, note: (fault) => this.#scheduler.history.push(fault) });
    this.#scheduler = new Scheduler({ sql: options.sql, random, links: () => this.#traffic.links });
  }

  get names(): readonly string[] {
    return this.#scheduler.history;
  }

  async run(): Promise<void> {
    const { sql } = this.#options;
    const account = await createSimulatedAccount(sql);
    this.#account = account;
    const ledger = new Ledger(sql, account);
    this.#ledger = ledger;
    await this.#start('A');
    await this.#start('B');
    const dependencies = {
      account,
      ledger,
      random: this.#random,
      anyProcess: () => this.#random.pick(this.#processes),
      onActivity: this.#scheduler.onActivity,
    };
    this.#clients = [
      ...account.visitors.map((id, index) => new SimulatedVisitor(index + 1, id, dependencies)),
      ...account.operators.map((id, index) => new SimulatedOperator(index + 1, id, dependencies)),
    ];
    for (const step of this.#options.steps ?? Array(lengthOfHistory).keys()) {
      this.#random.beginStep(step);
      this.begun.push(step);
      await this.#step(this.#possible());
    }
    this.#random.beginStep(lengthOfHistory);
    await this.#end();
    await this.#check(account, ledger);
  }

  /** Returns the connections to the next history. No statement is under way. */
  async close(): Promise<void> {
    const { hosts, sql } = this.#options;
    for (const { turns, host } of this.#processes) {
      await runAs(host, async () => turns.stop());
      hosts.release(host);
    }
    if (this.#account !== null) await retire(sql, this.#account);
  }

  /** After a failure nobody knows what is under way, so all connections are lost. */
  abandon(): void {
    for (const { turns, host } of this.#processes) {
      host.close();
      void turns.stop();
    }
  }

  async #start(name: string): Promise<void> {
    const host = await this.#options.hosts.take();
    host.gate.onActivity = this.#scheduler.onActivity;
    const onLog = (line: string): void => this.#ledger?.fail(new Error(`a process logged an error: ${line}`));
    this.#processes.push(runAs(host, () => startProcess({ name, host, onLog })));
    this.#traffic.add(host, name);
  }

  async #step(steps: readonly Step[]): Promise<boolean> {
    const ran = await this.#scheduler.runOne(steps);
    this.#ledger?.throwFailure();
    for (const { text } of this.#scheduler.parked)
      assert.ok(!text.startsWith('WITH engaged'), 'a batch of messages waits for a lock');
    if (this.#traffic.commits > 0) {
      this.#traffic.commits = 0;
      await this.#ledger?.checkCommitted();
    }
    return ran;
  }

  /** No faults and no more requests: what is under way ends. */
  async #end(): Promise<void> {
    this.#traffic.isCalm = true;
    for (let count = 0; count < lengthOfEnd; count += 1) {
      const steps = this.#traffic.steps();
      if (steps.length === 0 && this.#clients.every((client) => !client.isWaiting)) return;
      await this.#step(steps.length > 0 ? steps : [this.#timersRun()]);
    }
    throw new Error('the history does not end');
  }

  #possible(): Step[] {
    return [...this.#traffic.steps(), ...this.#clients.flatMap((client) => client.steps()), ...this.#rare()];
  }

  #rare(): Step[] {
    const [process] = this.#processes;
    return [
      {
        name: 'time passes',
        run: async () => this.#time.advance(this.#random.pick([1, 1, 10, 10, 100, 1_000, 20_000])),
        weight: 0.1,
      },
      this.#timersRun(),
      { name: 'an operator is enabled or disabled', run: async () => this.#configure(), weight: 0.01 },
      ...this.#notified.map((notified, index) => ({
        name: `${notified.name} is notified`,
        run: () => {
          this.#notified.splice(index, 1);
          runAs(notified.host, () => notified.notify(this.#account?.id ?? ''));
        },
        weight: 0.3,
      })),
      ...(this.#hasFaults && process !== undefined
        ? [{ name: `${process.name} is killed`, run: async () => this.#kill(process), weight: 0.01 }]
        : []),
    ];
  }

  /** A second passes for the processes. */
  #timersRun(): Step {
    const run = (): void => {
      this.#timers.now += 1_000;
      for (const { host } of this.#processes) this.#timers.runDue(host);
    };
    return { name: 'timers run', run, weight: 0.05 };
  }

  /** A change of the configuration by another process, which is not part of the simulation: it is refused if the account is locked. */
  async #configure(): Promise<void> {
    const { sql } = this.#options;
    const operatorId = this.#random.pick(this.#account?.operators ?? []);
    const changed = await inTransaction(sql, async (own) => {
      const locked = await own`
        SELECT 1 FROM accounts WHERE id = ${this.#account?.id ?? null} FOR NO KEY UPDATE SKIP LOCKED`;
      if (locked.length === 0) return false;
      await own`UPDATE operators SET enabled = NOT enabled WHERE id = ${operatorId}`;
      return true;
    });
    // Some notifications are lost: the poll finds that the account is due.
    if (changed) this.#notified.push(...this.#processes.filter(() => this.#random.chance(0.7)));
  }

  async #kill(process: SimulatedProcess): Promise<void> {
    process.host.close();
    this.#timers.forget(process.host);
    void process.turns.stop();
    this.#processes.splice(this.#processes.indexOf(process), 1);
    this.#notified = this.#notified.filter((notified) => notified !== process);
    for (const client of this.#clients) client.onKilled(process);
    await this.#start(String.fromCharCode('A'.charCodeAt(0) + this.#traffic.hostCount));
  }

  async #check(account: SimulatedAccount, ledger: Ledger): Promise<void> {
    const { sql } = this.#options;
    // Each process catches up with the others, and finds nothing to do.
    for (let round = 0; round < 2; round += 1) {
      for (const { host, turns } of this.#processes) {
        let isDone = false;
        runAs(host, async () => turns.run(account.id, { name: 'viewTickets', ticketIds: [] })).then(
          () => (isDone = true),
          (error: unknown) => ledger.fail(error),
        );
        await this.#scheduler.settle();
        await this.#end();
        assert.ok(isDone, 'a turn has ended');
      }
    }
    const loaded = await inTransaction(sql, async (own) => loadBoard(own, account.id, this.#time.now));
    const [stored] = await sql<
      { seq: number }[]
    >`SELECT last_seq::float8 AS seq FROM accounts WHERE id = ${account.id}`;
    loaded.seq = stored?.seq ?? 0;
    advance(loaded, this.#time.now);
    const expected = describeBoard(loaded);
    for (const { name, turns } of this.#processes) {
      const cached = turns.cachedBoard(account.id);
      assert.ok(cached, `${name} has a board`);
      assert.deepEqual(describeBoard(cached.board), expected, `the board of ${name} is that of the database`);
    }
    const errors = this.#traffic.links.flatMap((link) => link.errors);
    assert.deepEqual(errors, [], 'PostgreSQL has reported no error, such as a deadlock');
    await ledger.checkCommitted();
    await ledger.checkAcknowledged();
    await ledger.checkEvents();
    await ledger.checkMoves();
    ledger.throwFailure();
  }
}
