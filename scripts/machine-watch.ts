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
const probeEveryMs = 1_000;
/** The machine is calm if it was fast in so many probes in a row. */
const fastProbes = 5;
/** A probe is fast if it takes less than three times as long as the fastest. */
const slowestFast = 3;

export class MachineWatch {
  readonly #began = readProcessorTimes();
  readonly #timer: NodeJS.Timeout;
  #last = performance.now();
  #longestStallMs = 0;
  /** Processor times of the last seconds, the oldest first. */
  readonly #lately: { readonly at: number; readonly times: ProcessorTimes; readonly isLate: boolean }[] = [];
  readonly #folder = mkdtempSync(join(tmpdir(), 'usher-disk-watch-'));
  #longestFlushMs = 0;
  #fastestMs: number;
  readonly #probe: () => number;
  #isFlushing = false;

  /** `probe` says how long a fixed piece of work takes, in ms. */
  constructor(probe = workMs) {
    this.#probe = probe;
    this.#fastestMs = Math.min(probe(), probe(), probe());
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

  /**
   * Waits until the machine is calm, for `maxMs` at most. For use while no test runs. It measures how long a little work takes, because a
   * machine that wants little processor time says nothing about how much it would get.
   */
  async untilCalm(maxMs: number): Promise<void> {
    const end = performance.now() + maxMs;
    for (let fast = 0; fast < fastProbes && performance.now() < end;) {
      const tookMs = this.#probe();
      this.#fastestMs = Math.min(this.#fastestMs, tookMs);
      fast = tookMs < slowestFast * this.#fastestMs ? fast + 1 : 0;
      await sleep(probeEveryMs);
    }
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

/** How long a fixed piece of work takes: some 10 ms. */
function workMs(): number {
  const began = performance.now();
  let sum = 0;
  for (let n = 0; n < 5e6; n += 1) sum += Math.sqrt(n);
  if (sum < 0) throw new Error('unreachable');
  return performance.now() - began;
}

function inSeconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}
