import { statfs } from 'node:fs/promises';
import { StartError } from './errors.ts';

const mebibyte = 1024 * 1024;
/**
 * With less than this the disk counts as full, and nothing more is written to it. PostgreSQL ends if it cannot extend its log,
 * which grows by 16 MiB at a time; what is under way when the disk is found full, vacuuming and a restart need the rest.
 */
const leastFreeBytes = 128 * mebibyte;
/** Writes go on once there is as much as this: a little more, or each of them could be the one that stops all again. */
const enoughFreeBytes = 160 * mebibyte;
const lookMs = 500;

/** Whether there is room to write. */
export interface DiskSpace {
  readonly isFull: boolean;
}

/** How much is free where the data directory is, for users that are not root. */
async function freeBytesAt(path: string): Promise<number> {
  const { bavail, bsize } = await statfs(path);
  return bavail * bsize;
}

type Measure = (path: string) => Promise<number>;

/** Watches the disk of the embedded database and of uploaded files. */
export class DiskRoom implements DiskSpace {
  readonly #path: string;
  readonly #measure: Measure;
  readonly #timer: NodeJS.Timeout;
  #isFull = false;
  #onChange: () => void = () => undefined;

  /** The directory must be there. */
  constructor(path: string, measure: Measure = freeBytesAt) {
    this.#path = path;
    this.#measure = measure;
    this.#timer = setInterval(() => void this.look(), lookMs).unref();
  }

  get isFull(): boolean {
    return this.#isFull;
  }

  /** Calls `changed` as soon as the disk is found full, or found to have room again. */
  onChange(changed: () => void): void {
    this.#onChange = changed;
  }

  async look(): Promise<void> {
    try {
      const free = await this.#measure(this.#path);
      const isFull = free < (this.#isFull ? enoughFreeBytes : leastFreeBytes);
      if (isFull === this.#isFull) return;
      this.#isFull = isFull;
      this.#onChange();
    } catch {
      // A directory that cannot be measured cannot be written to either; the write itself reports why.
    }
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}

/** A database on a full disk could not even be brought up to date. */
export async function refuseFullDisk(dataDir: string): Promise<void> {
  const free = await freeBytesAt(dataDir);
  if (free >= leastFreeBytes) return;
  throw new StartError(
    `The disk of ${dataDir} has ${Math.floor(free / mebibyte)} MiB left, and the embedded database needs ${leastFreeBytes / mebibyte}. ` +
      'Make room on it, or set USHER_DATA_DIR to a directory on another disk.',
  );
}
