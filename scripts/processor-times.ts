import { readFileSync } from 'node:fs';

/** Processor time of the whole machine since it started, in ticks. */
export interface ProcessorTimes {
  readonly all: number;
  /** Without idle time and without what was stolen. */
  readonly busy: number;
  /** What the host of a virtual machine gave to others. */
  readonly stolen: number;
}

/** Zeros where the system does not tell: only Linux does. */
export function readProcessorTimes(): ProcessorTimes {
  try {
    const [first = ''] = readFileSync('/proc/stat', 'utf8').split('\n');
    const times = first.split(/ +/).slice(1, 9).map(Number);
    const [user = 0, nice = 0, system = 0, , , , , stolen = 0] = times;
    return { all: times.reduce((sum, time) => sum + time, 0), busy: user + nice + system, stolen };
  } catch {
    return { all: 0, busy: 0, stolen: 0 };
  }
}
