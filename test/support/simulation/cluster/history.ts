import assert from 'node:assert/strict';
import { FailedHistory } from '../failed-history.ts';
import { randomOf, type Random } from '../random.ts';
import { Scheduler, type Step } from '../scheduler.ts';
import type { SimulationOptions } from '../seeds.ts';
import { VirtualTimers } from '../timers.ts';
import { Traffic } from '../traffic.ts';
import { VirtualTime } from '../virtual-time.ts';
import { crash } from './crash.ts';
import type { Part } from './part.ts';
import { ClusterProcess } from './process.ts';
import { clearCluster, createClusterAccount, type ClusterAccount } from './setup.ts';
import { Writers } from './writers.ts';

/** Steps with clients and faults, and the limit for those after them. */
const lengthOfHistory = 300;
const lengthOfEnd = 6_000;

/** How much time passes at once: what processes wait for, and what makes leases end. */
const pauses = [1, 5, 5, 20, 20, 20, 100, 100, 500, 1_000, 2_000, 6_000, 16_000];
/** By how much the clock of the database is set, in milliseconds. */
const clockSteps = [-3_600_000, -3_600_000, -30_000, 30_000, 3_600_000, 3_600_000];
/** At the end so much time passes at least, because processes poll. */
const pollMs = 1_000;

interface Course {
  readonly random: Random;
  readonly timers: VirtualTimers;
  readonly time: VirtualTime;
}

export type OpenPart = (world: {
  readonly options: SimulationOptions;
  readonly account: ClusterAccount;
  readonly random: Random;
  readonly onActivity: () => void;
  readonly onError: (error: unknown) => void;
  readonly writers: Writers;
}) => Part;

/** Runs the history of a seed, checks what is promised of the part, and returns the steps. Otherwise rejects with a `FailedHistory`. */
export async function runClusterHistory(options: SimulationOptions, openPart: OpenPart): Promise<readonly string[]> {
  const random = randomOf(options.seed);
  const timers = new VirtualTimers();
  const time = await VirtualTime.start(options.sql, random, timers);
  const account = await createClusterAccount(options.sql);
  const history = new ClusterHistory(options, { random, timers, time }, account, openPart);
  try {
    await history.run();
  } catch (error) {
    history.abandon();
    throw new FailedHistory(history.names, history.begun, error);
  } finally {
    time.stop();
  }
  return history.names;
}

class ClusterHistory {
  readonly #options: SimulationOptions;
  readonly #account: ClusterAccount;
  readonly #course: Course;
  readonly #scheduler: Scheduler;
  readonly #traffic: Traffic;
  readonly #writers: Writers;
  readonly #part: Part;
  /** The numbers of the steps with clients and faults so far. */
  readonly begun: number[] = [];
  /** Some histories have no faults. */
  readonly #hasFaults: boolean;
  readonly #processes: ClusterProcess[] = [];
  readonly #frozen = new Set<ClusterProcess>();
  /** Notifications that were sent and not received, by process. */
  #notified: ClusterProcess[] = [];
  #failure: { readonly error: unknown } | null = null;

  constructor(options: SimulationOptions, course: Course, account: ClusterAccount, openPart: OpenPart) {
    this.#options = options;
    this.#course = course;
    this.#account = account;
    const { random } = course;
    const faultRate = random.pick([0, 0.01, 0.05]);
    this.#hasFaults = faultRate > 0;
    this.#traffic = new Traffic({ random, faultRate, note: (fault) => this.#note(fault) });
    this.#scheduler = new Scheduler({ sql: options.sql, random, links: () => this.#traffic.links });
    const { onActivity } = this.#scheduler;
    const onError = (error: unknown): void => this.#fail(error);
    this.#writers = new Writers({ account, random, onActivity, onError });
    this.#part = openPart({ options, account, random, onActivity, onError, writers: this.#writers });
  }

  get names(): readonly string[] {
    return this.#scheduler.history;
  }

  async run(): Promise<void> {
    const { sql, hosts } = this.#options;
    await this.#start();
    await this.#start();
    for (const step of this.#options.steps ?? Array(lengthOfHistory).keys()) {
      this.#course.random.beginStep(step);
      this.begun.push(step);
      await this.#step(this.#possible());
    }
    this.#course.random.beginStep(lengthOfHistory);
    this.#traffic.isCalm = true;
    this.#part.calm();
    this.#frozen.clear();
    await this.#until(async () => (await this.#part.waitsMs()) ?? (this.#writers.areWaiting ? 0 : null));
    let isStopped = false;
    Promise.all(this.#processes.map(async (each) => each.stop())).then(
      () => (isStopped = true),
      (error: unknown) => this.#fail(error),
    );
    await this.#until(async () => Promise.resolve(isStopped ? null : 0));
    await this.#writers.check(sql);
    await this.#part.checkEnd();
    const errors = this.#traffic.links.flatMap((link) => link.errors);
    assert.deepEqual(errors, [], 'PostgreSQL has reported no error, such as a deadlock');
    for (const { host } of this.#processes) hosts.release(host);
    await clearCluster(sql);
  }

  /** After a failure nobody knows what is under way, so all connections are lost. */
  abandon(): void {
    for (const process of this.#processes) process.kill();
  }

  #note(fault: string): void {
    this.#scheduler.history.push(fault);
  }

  #fail(error: unknown): void {
    this.#failure ??= { error };
  }

  async #start(): Promise<void> {
    const host = await this.#options.hosts.take();
    host.gate.onActivity = this.#scheduler.onActivity;
    const name = String.fromCharCode('A'.charCodeAt(0) + this.#traffic.hostCount);
    this.#traffic.add(host, name);
    const process = new ClusterProcess({
      name,
      host,
      part: this.#part,
      onCommitted: () => this.#notify(process),
      onLog: (line) => this.#fail(new Error(`the process ${name} logged an error: ${line}`)),
    });
    this.#processes.push(process);
    process.start();
    await this.#scheduler.settle();
  }

  async #step(steps: readonly Step[]): Promise<void> {
    await this.#scheduler.runOne(steps);
    if (this.#failure !== null) throw this.#failure.error;
    await this.#part.checkStep();
    if (this.#traffic.commits === 0) return;
    this.#traffic.commits = 0;
    await this.#part.checkCommitted();
  }

  /** Without faults, and without new messages, until there is nothing to wait for. */
  async #until(waitsMs: () => Promise<number | null>): Promise<void> {
    for (let count = 0; count < lengthOfEnd; count += 1) {
      const events = this.#events();
      if (events.length > 0) await this.#step(events);
      else {
        const ms = await waitsMs();
        if (ms === null) return;
        await this.#step([this.#passes(() => Math.max(pollMs, Math.ceil(ms)))]);
      }
    }
    throw new Error('the history does not end: something does not happen, or happens again and again');
  }

  #possible(): Step[] {
    return [
      ...this.#events(),
      ...this.#writers.steps(this.#processes),
      ...this.#part.clientSteps(this.#processes),
      ...this.#notifications(),
      ...(this.#hasFaults ? this.#faults() : []),
      this.#passes(() => this.#course.random.pick(pauses)),
    ];
  }

  /** What happens without anybody's doing: statements, answers and timers. */
  #events(): Step[] {
    const { timers } = this.#course;
    const due = this.#processes
      .filter((each) => !this.#frozen.has(each) && timers.isDue(each.host))
      .map(({ name, host }) => ({ name: `a timer of ${name} runs`, run: () => timers.runNext(host) }));
    const frozenHosts = new Set(Array.from(this.#frozen, ({ host }) => host));
    return [...this.#traffic.steps(frozenHosts), ...due, ...this.#part.steps((process) => this.#frozen.has(process))];
  }

  /** Some notifications are lost. */
  #notify(by: ClusterProcess): void {
    const others = this.#processes.filter((each) => each !== by);
    this.#notified.push(...others.filter(() => this.#course.random.chance(0.6)));
  }

  #notifications(): Step[] {
    const arriving = this.#notified.filter((each) => !this.#frozen.has(each));
    return arriving.map((process) => ({
      name: `${process.name} is notified`,
      run: () => {
        this.#notified.splice(this.#notified.indexOf(process), 1);
        process.run(() => process.changes.announce('told', `${this.#account.id} another`));
      },
      weight: 0.3,
    }));
  }

  #passes(draw: () => number): Step {
    const { timers, time } = this.#course;
    return {
      name: 'time passes',
      run: async () => {
        const ms = draw();
        this.#note(`  by ${ms} ms`);
        timers.now += ms;
        await time.moveClock(ms);
      },
      weight: 0.25,
    };
  }

  #faults(): Step[] {
    const [first] = this.#processes;
    const changes = this.#processes.map((process) =>
      this.#frozen.has(process)
        ? { name: `${process.name} goes on`, run: () => void this.#frozen.delete(process), weight: 0.05 }
        : { name: `${process.name} is frozen`, run: () => void this.#frozen.add(process), weight: 0.02 },
    );
    return [
      ...changes,
      ...(first === undefined
        ? []
        : [{ name: `${first.name} is killed`, run: async () => this.#kill(first), weight: 0.01 }]),
      { name: 'PostgreSQL crashes', run: async () => this.#crash(), weight: 0.005 },
      ...(this.#part.watchesClock
        ? [{ name: 'the clock of the database is set', run: async () => this.#setClock(), weight: 0.01 }]
        : []),
    ];
  }

  async #kill(process: ClusterProcess): Promise<void> {
    process.kill();
    this.#course.timers.forget(process.host);
    this.#frozen.delete(process);
    this.#part.onKilled(process);
    this.#writers.onKilled(process);
    this.#processes.splice(this.#processes.indexOf(process), 1);
    this.#notified = this.#notified.filter((notified) => notified !== process);
    await this.#start();
  }

  async #setClock(): Promise<void> {
    const ms = this.#course.random.pick(clockSteps);
    this.#note(`  by ${ms} ms`);
    await this.#course.time.moveClock(ms);
  }

  async #crash(): Promise<void> {
    for (const link of this.#traffic.links) link.cut();
    await this.#scheduler.settle();
    await crash(this.#options.sql);
  }
}
