import assert from 'node:assert/strict';
import { FailedHistory } from '../failed-history.ts';
import { randomOf, type Random } from '../random.ts';
import { Scheduler, type Step } from '../scheduler.ts';
import type { SimulationOptions } from '../seeds.ts';
import { VirtualTimers } from '../timers.ts';
import { Traffic } from '../traffic.ts';
import { VirtualTime } from '../virtual-time.ts';
import { DeliveryChecks } from './checks.ts';
import { DeliveryProcess } from './process.ts';
import { Receivers } from './receivers.ts';
import { clearDeliveries, createDeliveryAccount } from './setup.ts';
import { Writers } from './writers.ts';

/** Steps with writers and faults, and the limit for those after them. */
const lengthOfHistory = 300;
const lengthOfEnd = 6_000;

/** How much time passes at once: what the dispatcher waits for, and what makes leases end. */
const pauses = [1, 5, 5, 20, 20, 20, 100, 100, 500, 1_000, 2_000, 6_000, 16_000];
/** At the end, time passes until the next delivery is due, but so much at least, because processes poll. */
const pollMs = 1_000;

/** Runs the history of a seed, checks what is promised of deliveries, and returns the steps. Otherwise rejects with a `FailedHistory`. */
export async function runDeliveryHistory(options: SimulationOptions): Promise<readonly string[]> {
  const random = randomOf(options.seed);
  const timers = new VirtualTimers();
  const time = await VirtualTime.start(options.sql, random, timers);
  const history = new DeliveryHistory(options, { random, timers, time });
  try {
    await history.run();
  } catch (error) {
    history.abandon();
    throw new FailedHistory(history.steps, error);
  } finally {
    time.stop();
  }
  return history.steps;
}

interface Course {
  readonly random: Random;
  readonly timers: VirtualTimers;
  readonly time: VirtualTime;
}

class DeliveryHistory {
  readonly #options: SimulationOptions;
  readonly #random: Random;
  readonly #timers: VirtualTimers;
  readonly #time: VirtualTime;
  readonly #scheduler: Scheduler;
  readonly #traffic: Traffic;
  readonly #hasFaults: boolean;
  readonly #processes: DeliveryProcess[] = [];
  readonly #frozen = new Set<DeliveryProcess>();
  /** Notifications that were sent and not received, by process. */
  #notified: DeliveryProcess[] = [];
  #failure: { readonly error: unknown } | null = null;

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

  get steps(): readonly string[] {
    return this.#scheduler.history;
  }

  async run(): Promise<void> {
    const { sql, hosts } = this.#options;
    const account = await createDeliveryAccount(sql);
    const { onActivity } = this.#scheduler;
    const receivers = new Receivers(this.#random, account.origins, onActivity);
    const onError = (error: unknown): void => this.#fail(error);
    const writers = new Writers({ account, random: this.#random, onActivity, onError });
    const checks = new DeliveryChecks(sql, account, receivers);
    const step = async (steps: readonly Step[]): Promise<void> => {
      await this.#scheduler.runOne(steps);
      if (this.#failure !== null) throw this.#failure.error;
      await checks.checkOwners();
      if (this.#traffic.commits === 0) return;
      this.#traffic.commits = 0;
      await checks.checkAttempts();
    };
    const start = async (): Promise<void> => this.#start(receivers);
    await start();
    await start();
    for (let count = 0; count < lengthOfHistory; count += 1)
      await step([
        ...this.#events(receivers),
        ...writers.steps(this.#processes),
        ...this.#notifications(account.id),
        ...this.#rare({ receivers, writers, start }),
        this.#passes(() => this.#random.pick(pauses)),
      ]);
    this.#traffic.isCalm = true;
    receivers.isCalm = true;
    this.#frozen.clear();
    await this.#until(async () => (await checks.waitsMs()) ?? (writers.areWaiting ? 0 : null), receivers, step);
    const stopped = Promise.all(this.#processes.map(async (each) => each.stop()));
    let isStopped = false;
    stopped.then(
      () => (isStopped = true),
      (error: unknown) => this.#fail(error),
    );
    await this.#until(async () => Promise.resolve(isStopped ? null : 0), receivers, step);
    await checks.checkEnd(writers.acknowledged);
    const errors = this.#traffic.links.flatMap((link) => link.errors);
    assert.deepEqual(errors, [], 'PostgreSQL has reported no error, such as a deadlock');
    for (const { host } of this.#processes) hosts.release(host);
    await clearDeliveries(sql);
  }

  /** After a failure nobody knows what is under way, so all connections are lost. */
  abandon(): void {
    for (const process of this.#processes) process.kill();
  }

  #fail(error: unknown): void {
    this.#failure ??= { error };
  }

  async #start(receivers: Receivers): Promise<void> {
    const host = await this.#options.hosts.take();
    host.gate.onActivity = this.#scheduler.onActivity;
    const name = String.fromCharCode('A'.charCodeAt(0) + this.#traffic.hostCount);
    this.#traffic.add(host, name);
    const process = new DeliveryProcess({
      name,
      host,
      receivers,
      onCommitted: () => this.#notify(process),
      onLog: (line) => this.#fail(new Error(`the process ${name} logged an error: ${line}`)),
    });
    this.#processes.push(process);
    process.start();
    await this.#scheduler.settle();
  }

  /** Some notifications are lost. */
  #notify(by: DeliveryProcess): void {
    const others = this.#processes.filter((each) => each !== by);
    this.#notified.push(...others.filter(() => this.#random.chance(0.6)));
  }

  /** Without faults, and without new messages, until there is nothing to wait for. */
  async #until(
    waitsMs: () => Promise<number | null>,
    receivers: Receivers,
    step: (steps: readonly Step[]) => Promise<void>,
  ): Promise<void> {
    for (let count = 0; count < lengthOfEnd; count += 1) {
      const events = this.#events(receivers);
      if (events.length > 0) await step(events);
      else {
        const ms = await waitsMs();
        if (ms === null) return;
        await step([this.#passes(() => Math.max(pollMs, Math.ceil(ms)))]);
      }
    }
    throw new Error('the history does not end: something is not delivered, or is sent again and again');
  }

  /** What happens without anybody's doing: statements, answers and timers. */
  #events(receivers: Receivers): Step[] {
    const frozenHosts = new Set(Array.from(this.#frozen, ({ host }) => host));
    const frozenNames = new Set(Array.from(this.#frozen, ({ name }) => name));
    const timers = this.#processes
      .filter((each) => !this.#frozen.has(each) && this.#timers.isDue(each.host))
      .map(({ name, host }) => ({ name: `a timer of ${name} runs`, run: () => this.#timers.runNext(host) }));
    return [...this.#traffic.steps(frozenHosts), ...timers, ...receivers.steps((name) => frozenNames.has(name))];
  }

  #notifications(accountId: string): Step[] {
    const arriving = this.#notified.filter((each) => !this.#frozen.has(each));
    return arriving.map((process) => ({
      name: `${process.name} is notified`,
      run: () => {
        this.#notified.splice(this.#notified.indexOf(process), 1);
        process.run(() => process.changes.announce('told', `${accountId} another`));
      },
      weight: 0.3,
    }));
  }

  #passes(draw: () => number): Step {
    return {
      name: 'time passes',
      run: async () => {
        const ms = draw();
        this.#scheduler.history.push(`  by ${ms} ms`);
        this.#timers.now += ms;
        await this.#time.moveClock(ms);
      },
      weight: 0.25,
    };
  }

  #rare(world: { receivers: Receivers; writers: Writers; start: () => Promise<void> }): Step[] {
    if (!this.#hasFaults) return [];
    const [first] = this.#processes;
    const thaws = Array.from(this.#frozen, (process) => ({
      name: `${process.name} goes on`,
      run: () => void this.#frozen.delete(process),
      weight: 0.05,
    }));
    const freezes = this.#processes
      .filter((each) => !this.#frozen.has(each))
      .map((process) => ({
        name: `${process.name} is frozen`,
        run: () => void this.#frozen.add(process),
        weight: 0.02,
      }));
    if (first === undefined) return [...thaws, ...freezes];
    return [
      ...thaws,
      ...freezes,
      { name: `${first.name} is killed`, run: async () => this.#kill(first, world), weight: 0.01 },
    ];
  }

  async #kill(
    process: DeliveryProcess,
    { receivers, writers, start }: { receivers: Receivers; writers: Writers; start: () => Promise<void> },
  ): Promise<void> {
    process.kill();
    this.#timers.forget(process.host);
    this.#frozen.delete(process);
    receivers.forget(process.name);
    writers.onKilled(process);
    this.#processes.splice(this.#processes.indexOf(process), 1);
    this.#notified = this.#notified.filter((notified) => notified !== process);
    await start();
  }
}
