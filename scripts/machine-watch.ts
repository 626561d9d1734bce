import { mkdtempSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { readProcessorTimes, type ProcessorTimes } from './processor-times.ts';

/**
 * Watches how regularly this machine works while the tests run. A virtual machine may stand still for seconds, wait for its disk, or get
 * only a part of its processors. Then tests of real time limits fail although nothing is wrong.
 */
const tickMs = 100;
/** Tests run in parallel at normal priority, so a process that is due may wait for some time slices, but never this long. */
const stallMs = 1_000;
const flushEveryMs = 1_000;
/** Longer than the tests themselves keep a disk busy. */
const diskStallMs = 3_000;
/** More than the noise of a host that is busy now and then. */
const mostStolen = 0.05;
/** `lostLately` looks back this far: longer than the noise, shorter than most test files take. */
const latelyMs = 10_000;
const calmPollMs = 1_000;

export class MachineWatch {
  readonly #began = readProcessorTimes();
  readonly #timer: NodeJS.Timeout;
  #last = performance.now();
  #longestStallMs = 0;
  /** Processor times of the last seconds, the oldest first. */
  readonly #lately: { readonly at: number; readonly times: ProcessorTimes; readonly isLate: boolean }[] = [];
  readonly #folder = mkdtempSync(join(tmpdir(), 'usher-disk-watch-'));
  #longestFlushMs = 0;
  #isFlushing = false;

  constructor() {
    this.#timer = setInterval(() => this.#tick(), tickMs).unref();
  }

  /** How the machine was disturbed until now; `null` if it was not. */
  disturbance(): string | null {
    const now = readProcessorTimes();
    const stolen = (now.stolen - this.#began.stolen) / Math.max(1, now.all - this.#began.all);
    if (this.#longestStallMs < stallMs && this.#longestFlushMs < diskStallMs && stolen < mostStolen) return null;
    return [
      `The machine stood still for up to ${inSeconds(this.#longestStallMs)}`,
      `its disk needed up to ${inSeconds(this.#longestFlushMs)} for a small file`,
      `and its host took ${Math.round(stolen * 100)} % of its processors away`,
    ].join(', ');
  }

  /** The share of the processor time wanted in the last seconds that the host gave to others: 1 if the machine stood still. */
  lostLately(): number {
    const [first] = this.#lately;
    if (first === undefined) return 0;
    if (this.#lately.some(({ isLate }) => isLate)) return 1;
    const now = readProcessorTimes();
    const stolen = now.stolen - first.times.stolen;
    return stolen === 0 ? 0 : stolen / (stolen + now.busy - first.times.busy);
  }

  /** Waits until the machine loses less than `share` of its processor time, for `maxMs` at most. */
  async untilCalm(share: number, maxMs: number): Promise<void> {
    const until = performance.now() + maxMs;
    while (this.lostLately() >= share && performance.now() < until) await sleep(calmPollMs);
  }

  stop(): void {
    clearInterval(this.#timer);
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #tick(): void {
    const now = performance.now();
    const lateMs = now - this.#last - tickMs;
    this.#longestStallMs = Math.max(this.#longestStallMs, lateMs);
    this.#last = now;
    this.#lately.push({ at: now, times: readProcessorTimes(), isLate: lateMs >= stallMs });
    while (this.#lately[0] !== undefined && this.#lately[0].at < now - latelyMs) this.#lately.shift();
    if (!this.#isFlushing) void this.#flush();
  }

  async #flush(): Promise<void> {
    this.#isFlushing = true;
    const began = performance.now();
    try {
      const file = await open(join(this.#folder, 'flushed'), 'w');
      await file.write('x');
      await file.sync();
      await file.close();
    } catch {
      // The disk is full, or the run has ended.
    }
    this.#longestFlushMs = Math.max(this.#longestFlushMs, performance.now() - began);
    setTimeout(() => (this.#isFlushing = false), flushEveryMs).unref();
  }
}

function inSeconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}
