import { statfs } from 'node:fs/promises';
import { StartError } from '../errors.ts';

const mebibyte = 1024 * 1024;
/**
 * With less free space than this the disk counts as full, and writes stop. PostgreSQL crashes if it cannot extend its WAL, which
 * grows by 16 MiB at a time; running transactions, vacuum and a restart need the rest.
 */
const minFreeBytes = 128 * mebibyte;
/** Writes resume at this size. It is larger than `minFreeBytes`, so that the switch does not flap. */
const enoughFreeBytes = 160 * mebibyte;
const pollMs = 500;

/** Whether the disk has space for writes. */
export interface DiskSpace {
  readonly isFull: boolean;
}

/** The free space on the disk of `path` for users other than root. */
async function freeBytesAt(path: string): Promise<number> {
  const { bavail, bsize } = await statfs(path);
  return bavail * bsize;
}

type Measure = (path: string) => Promise<number>;

/** Watches the disk of the embedded database and of uploaded files. */
export class DiskWatch implements DiskSpace {
  readonly #path: string;
  readonly #measure: Measure;
  readonly #timer: NodeJS.Timeout;
  #isFull = false;
  #onChange: () => void = () => undefined;

  /** The directory must exist. */
  constructor(path: string, measure: Measure = freeBytesAt) {
    this.#path = path;
    this.#measure = measure;
    this.#timer = setInterval(() => void this.check(), pollMs).unref();
  }

  get isFull(): boolean {
    return this.#isFull;
  }

  /** Calls `changed` as soon as the disk becomes full or has space again. */
  onChange(changed: () => void): void {
    this.#onChange = changed;
  }

  async check(): Promise<void> {
    try {
      const free = await this.#measure(this.#path);
      const isFull = free < (this.#isFull ? enoughFreeBytes : minFreeBytes);
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

/** Refuses to start on a full disk, where not even the migrations could run. */
export async function refuseFullDisk(dataDir: string): Promise<void> {
  const free = await freeBytesAt(dataDir);
  if (free >= minFreeBytes) return;
  throw new StartError(
    `The disk of ${dataDir} has ${Math.floor(free / mebibyte)} MiB left, and the embedded database needs ${minFreeBytes / mebibyte} MiB. ` +
      'Free space on it, or set USHER_DATA_DIR to a directory on another disk.',
  );
}
